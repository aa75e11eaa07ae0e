#include "cloud/azure_signing.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/url_encoding.h"
#include "sys/http.h"

namespace outlast::cloud {
namespace {

std::string_view azure_trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Each x-ms-* header as "name:value\n", by name.
std::string azure_headers(const sys::HttpHeaders& headers) {
  std::map<std::string, std::string_view> by_name;
  for (const auto& [name, value] : headers) {
    std::string lower = ascii_lower(name);
    if (lower.starts_with("x-ms-")) by_name.emplace(std::move(lower), azure_trimmed(value));
  }
  std::string out;
  for (const auto& [name, value] : by_name) out += fmt::format("{}:{}\n", name, value);
  return out;
}

// "/account/path" and each parameter of the query as "\nname:value,value", decoded, by name.
Result<std::string> azure_resource(std::string_view account, std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t path_at = scheme == std::string_view::npos
                                  ? std::string_view::npos
                                  : url.find_first_of("/?", scheme + 3);
  if (path_at == std::string_view::npos || url[path_at] != '/') {
    return Error(ErrorCode::kInvalidArgument, "the URL to sign has no path");
  }
  const std::size_t query_at = std::min(url.find('?', path_at), url.size());
  std::map<std::string, std::vector<std::string>> by_name;
  for (std::size_t at = query_at + 1; at < url.size();) {
    const std::size_t end = std::min(url.find('&', at), url.size());
    const std::string_view pair = url.substr(at, end - at);
    at = end + 1;
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    OUTLAST_TRY_ASSIGN(const std::string name, percent_decode(pair.substr(0, equals)));
    OUTLAST_TRY_ASSIGN(std::string value,
                       percent_decode(pair.substr(std::min(equals + 1, pair.size()))));
    by_name[ascii_lower(name)].push_back(std::move(value));
  }
  std::string out = fmt::format("/{}{}", account, url.substr(path_at, query_at - path_at));
  for (auto& [name, values] : by_name) {
    std::sort(values.begin(), values.end());
    out += fmt::format("\n{}:{}", name, fmt::join(values, ","));
  }
  return out;
}

std::string azure_sign(const Secret<Bytes>& key, std::string_view text) {
  return base64_encode(hmac_sha256(key.reveal(), as_bytes(text)).bytes);
}

// "2026-11-15T08:30:00Z": Azure takes seconds at most.
std::string sas_time(WallTime time) {
  return format_rfc3339(time).substr(0, 19) + "Z";
}

std::string sas_time(const std::optional<WallTime>& time) {
  return time ? sas_time(*time) : std::string();
}

Secret<std::string> sas_query(Query fields, std::string signature) {
  fields.emplace_back("sig", std::move(signature));
  std::erase_if(fields, [](const auto& field) { return field.second.empty(); });
  return Secret<std::string>(encode_query(fields));
}

}  // namespace

Result<std::string> azure_string_to_sign(std::string_view account,
                                         const sys::HttpRequest& request) {
  // An empty body has no length here, whatever the request says.
  const std::size_t length =
      request.streamed_body != nullptr ? request.streamed_body->size() : request.body.size();
  std::string out = request.method + "\n";
  constexpr std::array<std::string_view, 11> kSigned = {"Content-Encoding",
                                                        "Content-Language",
                                                        "Content-Length",
                                                        "Content-MD5",
                                                        "Content-Type",
                                                        "Date",
                                                        "If-Modified-Since",
                                                        "If-Match",
                                                        "If-None-Match",
                                                        "If-Unmodified-Since",
                                                        "Range"};
  for (const std::string_view name : kSigned) {
    if (name == "Content-Length") {
      if (length > 0) out += fmt::format("{}", length);
    } else if (name != "Date") {  // empty: x-ms-date speaks for it
      out += sys::find_header(request.headers, name).value_or("");
    }
    out += '\n';
  }
  OUTLAST_TRY_ASSIGN(const std::string resource, azure_resource(account, request.url));
  return out + azure_headers(request.headers) + resource;
}

Result<Secret<std::string>> azure_shared_key(std::string_view account, const Secret<Bytes>& key,
                                             const sys::HttpRequest& request) {
  OUTLAST_TRY_ASSIGN(const std::string text, azure_string_to_sign(account, request));
  return Secret<std::string>(fmt::format("SharedKey {}:{}", account, azure_sign(key, text)));
}

Secret<std::string> sign_service_sas(const AzureServiceSas& sas, const Secret<Bytes>& key) {
  const std::string starts = sas_time(sas.starts);
  const std::string expires = sas_time(sas.expires);
  const std::string_view protocol = sas.https_only ? "https" : "";
  const std::string_view kind = sas.blob.empty() ? "c" : "b";
  std::string resource = fmt::format("/blob/{}/{}", sas.account, sas.container);
  if (!sas.blob.empty()) resource += "/" + sas.blob;
  // Left empty: the stored policy and the address range before the protocol; after the kind the
  // snapshot, the encryption scope, and the five headers that the answer could be made to carry.
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n\n\n{}\n{}\n{}\n\n\n\n\n\n\n", sas.permissions, starts, expires,
                  resource, protocol, kAzureVersion, kind);
  return sas_query({{"sv", std::string(kAzureVersion)},
                    {"st", starts},
                    {"se", expires},
                    {"sr", std::string(kind)},
                    {"sp", sas.permissions},
                    {"spr", std::string(protocol)}},
                   azure_sign(key, text));
}

Secret<std::string> sign_account_sas(const AzureAccountSas& sas, const Secret<Bytes>& key) {
  const std::string starts = sas_time(sas.starts);
  const std::string expires = sas_time(sas.expires);
  const std::string_view protocol = sas.https_only ? "https" : "";
  // Left empty: the address range before the protocol, the encryption scope after the version.
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n\n{}\n{}\n\n", sas.account, sas.permissions,
                  sas.services, sas.resource_types, starts, expires, protocol, kAzureVersion);
  return sas_query({{"sv", std::string(kAzureVersion)},
                    {"ss", sas.services},
                    {"srt", sas.resource_types},
                    {"st", starts},
                    {"se", expires},
                    {"sp", sas.permissions},
                    {"spr", std::string(protocol)}},
                   azure_sign(key, text));
}

}  // namespace outlast::cloud
