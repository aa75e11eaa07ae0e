#include "cloud/sigv4.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "base/encoding.h"
#include "base/hash.h"
#include "base/secret.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "cloud/http_date.h"
#include "cloud/url_encoding.h"
#include "sys/http.h"

namespace outlast::cloud {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::array<std::string_view, 5> kNeverSigned = {"authorization", "connection", "expect",
                                                          "user-agent", "x-amzn-trace-id"};

// Header names in lower case with canonical values, sorted by name.
using CanonicalHeaders = std::vector<std::pair<std::string, std::string>>;

// Without blanks at the ends, and with one for each run of them inside.
std::string squeeze(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

CanonicalHeaders canonical_headers(const SigV4Request& request, const sys::HttpHeaders& added) {
  CanonicalHeaders out;
  // Few enough to be put in their places one by one.
  const auto add = [&](std::string name, std::string value) {
    const auto place =
        std::ranges::upper_bound(out, name, {}, &CanonicalHeaders::value_type::first);
    out.emplace(place, std::move(name), std::move(value));
  };
  add("host", ascii_lower(request.host));
  for (const sys::HttpHeaders* headers : {request.headers, &added}) {
    if (headers == nullptr) continue;
    for (const auto& [name, value] : *headers) {
      std::string lower = ascii_lower(name);
      if (std::ranges::find(kNeverSigned, lower) != kNeverSigned.end()) continue;
      add(std::move(lower), squeeze(value));
    }
  }
  // A header that stands twice is signed once, its values joined.
  std::size_t kept = 0;
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i].first == out[kept].first) {
      out[kept].second += ',' + out[i].second;
    } else if (++kept != i) {
      out[kept] = std::move(out[i]);
    }
  }
  out.resize(kept + 1);
  return out;
}

std::string signed_names(const CanonicalHeaders& headers) {
  std::string out;
  for (const auto& [name, value] : headers) {
    if (!out.empty()) out += ';';
    out += name;
  }
  return out;
}

std::string canonical_query(const Query& query) {
  Query encoded;
  encoded.reserve(query.size());
  for (const auto& [name, value] : query) {
    encoded.emplace_back(percent_encode(name), percent_encode(value));
  }
  std::ranges::sort(encoded);
  std::string out;
  for (const auto& [name, value] : encoded) {
    if (!out.empty()) out += '&';
    out += name;
    out += '=';
    out += value;
  }
  return out;
}

// `path` without ".", ".." and empty segments; a '/' at the end stays.
std::string normalised(std::string_view path) {
  std::vector<std::string_view> segments;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view segment = path.substr(begin, end - begin);
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (!segment.empty() && segment != ".") {
      segments.push_back(segment);
    }
    begin = end + 1;
  }
  std::string out;
  for (const std::string_view segment : segments) {
    out += '/';
    out += segment;
  }
  if (out.empty() || path.ends_with('/')) out += '/';
  return out;
}

std::string canonical_path(std::string_view path, std::string_view service) {
  if (path.empty()) return "/";
  if (service == "s3") return std::string(path);
  return percent_encode_path(normalised(path));
}

std::string scope_of(const SigningKey& key) {
  return fmt::format("{}/{}/{}/aws4_request", key.day, key.region, key.service);
}

struct Signed {
  const SigV4Request& request;
  const CanonicalHeaders& headers;
  std::string_view names;  // of the headers
  std::string_view query;  // canonical
  std::string_view payload_hash;
};

std::string signature(const Signed& what, const SigningKey& key, WallTime now) {
  std::string canonical = fmt::format("{}\n{}\n{}\n", what.request.method,
                                      canonical_path(what.request.path, key.service), what.query);
  for (const auto& [name, value] : what.headers) {
    canonical.append(name).append(":").append(value).append("\n");
  }
  canonical.append("\n").append(what.names).append("\n").append(what.payload_hash);
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, format_compact_time(now),
                                          scope_of(key), sha256(as_bytes(canonical)).hex());
  return hmac_sha256(key.key.reveal(), as_bytes(to_sign)).hex();
}

}  // namespace

bool SigningKey::fits(WallTime now) const {
  return day == format_compact_day(now);
}

SigningKey derive_signing_key(const AwsKeys& keys, const SigningScope& scope, WallTime now) {
  SigningKey out{.access_key_id = keys.access_key_id,
                 .session_token = keys.session_token,
                 .day = format_compact_day(now),
                 .region = std::string(scope.region),
                 .service = std::string(scope.service)};
  const Secret<std::string> start("AWS4" + keys.secret_key.reveal());
  Sha256Digest digest = hmac_sha256(as_bytes(start.reveal()), as_bytes(out.day));
  for (const std::string_view step :
       {scope.region, scope.service, std::string_view("aws4_request")}) {
    digest = hmac_sha256(digest.bytes, as_bytes(step));
  }
  out.key = Secret<Bytes>(Bytes(digest.bytes.begin(), digest.bytes.end()));
  return out;
}

sys::HttpHeaders sign_v4(const SigV4Request& request, const SigningKey& key, WallTime now) {
  OUTLAST_CHECK(key.fits(now), "a key of {} signs at {}", key.day, format_compact_time(now));
  sys::HttpHeaders added;
  added.emplace_back("X-Amz-Date", format_compact_time(now));
  if (key.service == "s3") added.emplace_back("X-Amz-Content-Sha256", request.payload_hash);
  if (!key.session_token.reveal().empty()) {
    added.emplace_back("X-Amz-Security-Token", key.session_token.reveal());
  }
  const CanonicalHeaders headers = canonical_headers(request, added);
  const std::string names = signed_names(headers);
  const std::string query = request.query == nullptr ? "" : canonical_query(*request.query);
  const std::string by = signature({.request = request,
                                    .headers = headers,
                                    .names = names,
                                    .query = query,
                                    .payload_hash = request.payload_hash},
                                   key, now);
  added.emplace_back("Authorization",
                     fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                                 key.access_key_id, scope_of(key), names, by));
  return added;
}

Secret<std::string> presign_v4(const SigV4Request& request, const SigningKey& key, WallTime now,
                               Duration valid_for) {
  OUTLAST_CHECK(key.fits(now), "a key of {} signs at {}", key.day, format_compact_time(now));
  const CanonicalHeaders headers = canonical_headers(request, {});
  const std::string names = signed_names(headers);
  Query query = request.query == nullptr ? Query() : *request.query;
  query.emplace_back("X-Amz-Algorithm", kAlgorithm);
  query.emplace_back("X-Amz-Credential", fmt::format("{}/{}", key.access_key_id, scope_of(key)));
  query.emplace_back("X-Amz-Date", format_compact_time(now));
  query.emplace_back(
      "X-Amz-Expires",
      fmt::format("{}", std::chrono::duration_cast<std::chrono::seconds>(valid_for).count()));
  query.emplace_back("X-Amz-SignedHeaders", names);
  if (!key.session_token.reveal().empty()) {
    query.emplace_back("X-Amz-Security-Token", key.session_token.reveal());
  }
  const std::string canonical = canonical_query(query);
  const std::string by = signature({.request = request,
                                    .headers = headers,
                                    .names = names,
                                    .query = canonical,
                                    .payload_hash = kUnsignedPayload},
                                   key, now);
  return Secret<std::string>(canonical + "&X-Amz-Signature=" + by);
}

}  // namespace outlast::cloud
