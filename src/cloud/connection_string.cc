#include "cloud/connection_string.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/secret.h"

namespace outlast::cloud {
namespace {

// The emulator's account: public, the same everywhere.
constexpr std::string_view kDevelopmentAccount = "devstoreaccount1";
constexpr std::string_view kDevelopmentKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

using ConnectionParts = std::map<std::string, std::string, std::less<>>;

Error bad_connection(std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("the Azure connection string {}", what)};
}

// By lower-case name; values may hold '='.
Result<ConnectionParts> split_connection(std::string_view text) {
  ConnectionParts parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return bad_connection("has a part that is not Name=value");
    }
    const std::size_t first = part.find_first_not_of(" \t\r\n");
    const std::size_t last = part.find_last_not_of(" \t\r\n");
    std::string name = ascii_lower(part.substr(first, equals - first));
    if (!parts.emplace(std::move(name), part.substr(equals + 1, last - equals)).second) {
      return bad_connection("names a part twice");
    }
  }
  return parts;
}

std::string_view part_of(const ConnectionParts& parts, std::string_view lower_name) {
  const auto found = parts.find(lower_name);
  return found == parts.end() ? std::string_view() : std::string_view(found->second);
}

std::string without_slash(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  return std::string(url);
}

// "https://NAME.blob.…" -> "NAME"; "http://127.0.0.1:10000/NAME" -> "NAME"; "" if it names none.
std::string account_in_endpoint(std::string_view endpoint) {
  const std::size_t host_start = endpoint.find("://") + 3;
  const std::size_t slash = std::min(endpoint.find('/', host_start), endpoint.size());
  if (slash < endpoint.size()) return std::string(endpoint.substr(slash + 1));
  const std::string_view host = endpoint.substr(host_start, slash - host_start);
  const std::size_t dot = host.find(".blob.");
  return dot == std::string_view::npos ? "" : std::string(host.substr(0, dot));
}

AzureConnection development_storage(std::string_view proxy) {
  return {.account = std::string(kDevelopmentAccount),
          .key = Secret<std::string>(std::string(kDevelopmentKey)),
          .blob_endpoint =
              fmt::format("{}:10000/{}", proxy.empty() ? "http://127.0.0.1" : without_slash(proxy),
                          kDevelopmentAccount)};
}

}  // namespace

Result<AzureConnection> parse_connection_string(std::string_view text) {
  OUTLAST_TRY_ASSIGN(const ConnectionParts parts, split_connection(text));
  if (ascii_lower(part_of(parts, "usedevelopmentstorage")) == "true") {
    return development_storage(part_of(parts, "developmentstorageproxyuri"));
  }
  AzureConnection connection = {.account = std::string(part_of(parts, "accountname"))};

  const std::string_view endpoint = part_of(parts, "blobendpoint");
  if (!endpoint.empty()) {
    if (!endpoint.starts_with("https://") && !endpoint.starts_with("http://")) {
      return bad_connection("has a BlobEndpoint that is not an http:// or https:// URL");
    }
    connection.blob_endpoint = without_slash(endpoint);
    if (connection.account.empty())
      connection.account = account_in_endpoint(connection.blob_endpoint);
  }
  if (connection.account.empty()) {
    return bad_connection("names no account: add AccountName=…, or a BlobEndpoint=… that holds it");
  }
  if (endpoint.empty()) {
    const std::string_view protocol = part_of(parts, "defaultendpointsprotocol");
    if (!protocol.empty() && protocol != "http" && protocol != "https") {
      return bad_connection("has a DefaultEndpointsProtocol that is neither http nor https");
    }
    const std::string_view suffix = part_of(parts, "endpointsuffix");
    connection.blob_endpoint =
        fmt::format("{}://{}.blob.{}", protocol.empty() ? "https" : protocol, connection.account,
                    suffix.empty() ? "core.windows.net" : suffix);
  }

  const std::string_view key = part_of(parts, "accountkey");
  if (!key.empty() && !base64_decode(key)) {
    return bad_connection("has an AccountKey that is not base64");
  }
  connection.key = Secret(std::string(key));
  std::string_view sas = part_of(parts, "sharedaccesssignature");
  if (sas.starts_with('?')) sas.remove_prefix(1);
  connection.sas = Secret(std::string(sas));
  if (key.empty() && sas.empty()) {
    return bad_connection("has neither an AccountKey nor a SharedAccessSignature");
  }
  return connection;
}

}  // namespace outlast::cloud
