#include "store/s3/s3_address.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "cloud/url_encoding.h"
#include "store/s3/s3_store.h"
#include "sys/http.h"

namespace outlast::store::s3 {
namespace {

constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr std::string_view kAmazon = ".amazonaws.com";
constexpr std::string_view kAmazonChina = ".amazonaws.com.cn";

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

// Amazon wants less; Ceph and old buckets have more.
bool is_bucket(std::string_view text) {
  return text.size() >= 3 && text.size() <= 255 && text.front() != '.' &&
         std::ranges::all_of(text, [](char c) {
           return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
                  c == '.';
         });
}

// Whether a wildcard certificate covers the bucket's name as a part of the host's.
bool fits_in_host(std::string_view bucket) {
  return bucket.size() <= 63 && bucket.front() != '-' && bucket.back() != '-' &&
         std::ranges::all_of(bucket, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

struct Endpoint {
  std::string scheme = {};
  std::string host = {};
  std::string path = {};  // without a '/' at the end
};

std::string without_usual_port(std::string_view scheme, std::string host) {
  const std::string_view usual = scheme == "https" ? ":443" : ":80";
  if (host.ends_with(usual)) host.resize(host.size() - usual.size());
  return host;
}

Result<Endpoint> parse_endpoint(const std::string& text) {
  const Result<sys::HttpUrl> url = sys::parse_http_url(text);
  if (!url || url->target.find('?') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is not an endpoint such as https://s3.example.org",
                             sys::without_query(text)));
  }
  Endpoint out{.scheme = url->scheme, .path = url->target};
  out.host = without_usual_port(out.scheme, ascii_lower(url->authority));
  while (out.path.ends_with('/')) out.path.pop_back();
  return out;
}

std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  // The last colon of "[::1]" is not before a port.
  if (colon == std::string_view::npos || host.find(']', colon) != std::string_view::npos) {
    return host;
  }
  return host.substr(0, colon);
}

bool is_this_machine(std::string_view host) {
  const std::string_view name = without_port(host);
  return name == "localhost" || name.ends_with(".localhost") || name == "[::1]" ||
         (name.starts_with("127.") &&
          std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || c == '.'; }));
}

bool is_amazon(std::string_view host) {
  return host.ends_with(kAmazon) || host.ends_with(kAmazonChina);
}

// "us-west-2" of "s3.us-west-2.amazonaws.com", us-east-1 of "s3.amazonaws.com"; "" if the host is
// not one of Amazon's general ones.
std::string_view region_named_by(std::string_view host) {
  if (host == "s3.amazonaws.com") return kDefaultRegion;
  const std::string_view suffix = host.ends_with(kAmazonChina) ? kAmazonChina : kAmazon;
  if (!host.starts_with("s3.") || !host.ends_with(suffix)) return {};
  if (host.size() <= 3 + suffix.size()) return {};
  const std::string_view middle = host.substr(3, host.size() - 3 - suffix.size());
  return is_region(middle) ? middle : std::string_view();
}

Result<Address> build(const S3Options& options, std::string_view region) {
  Endpoint endpoint{.scheme = "https"};
  if (!options.endpoint.empty()) {
    auto parsed = parse_endpoint(options.endpoint);
    if (!parsed) return parsed.error();
    endpoint = *parsed;
  }
  const std::string_view named = region_named_by(endpoint.host);
  if (region.empty()) region = named.empty() ? kDefaultRegion : named;
  const bool general = endpoint.host.empty() || !named.empty();
  Address out{.scheme = endpoint.scheme, .base = endpoint.path, .region = std::string(region)};
  out.host =
      general ? fmt::format("s3.{}{}", region, region.starts_with("cn-") ? kAmazonChina : kAmazon)
              : endpoint.host;
  out.amazon = is_amazon(out.host);
  out.safe_wire = out.scheme == "https" || is_this_machine(out.host);
  const bool in_host =
      options.addressing == S3Addressing::kHost ||
      (options.addressing == S3Addressing::kAuto && general && fits_in_host(options.bucket));
  if (in_host) {
    out.host = options.bucket + "." + out.host;
  } else {
    out.base += "/" + cloud::percent_encode(options.bucket);
  }
  return out;
}

}  // namespace

std::string Address::path_of(std::string_view key) const {
  if (key.empty()) return base.empty() ? "/" : base;
  return base + "/" + cloud::percent_encode_path(key);
}

Result<Address> address_of(const S3Options& options) {
  if (!is_bucket(options.bucket)) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is not the name of a bucket: letters, digits, '-', '.' and '_', at "
                    "least 3 of them",
                    options.bucket));
  }
  if (!options.region.empty() && !is_region(options.region)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is not a region such as us-east-1", options.region));
  }
  return build(options, options.region);
}

Result<Address> address_in(const S3Options& options, std::string_view region) {
  if (!is_region(region)) {
    return Error(ErrorCode::kInvalidArgument, "the server names a region that cannot be one");
  }
  return build(options, region);
}

}  // namespace outlast::store::s3
