#include "store/open/store_url.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/nearest.h"
#include "base/result.h"

namespace outlast::store {
namespace {

constexpr std::array<std::string_view, 4> kSchemes = {"file", "s3", "gs", "az"};
constexpr std::size_t kShownMax = 200;

Error bad_url(std::string_view text, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("'{}': {}", text.substr(0, kShownMax), what)};
}

// Takes what stands before the next slash off the front, and the slash.
std::string_view take_part(std::string_view& rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view part = rest.substr(0, slash);
  rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
  return part;
}

// Only what every one of these clouds allows in the name of a bucket; the servers know the rest.
bool is_name(std::string_view name) {
  if (name.size() < 3 || name.size() > 222) return false;
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return name.find_first_not_of(kAllowed) == std::string_view::npos;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

}  // namespace

Result<StoreUrl> parse_store_url(std::string_view text) {
  if (text.empty()) return Error(ErrorCode::kInvalidArgument, "the URL of the store is empty");
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the URL or path of the store has a control character in it");
  }
  StoreUrl url;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) {
    for (const std::string_view scheme : kSchemes) {
      if (text.starts_with(scheme) && text.substr(scheme.size()).starts_with(":")) {
        return bad_url(text, fmt::format("write {}:// with two slashes; for a folder of this name, "
                                         "./{}:…",
                                         scheme, scheme));
      }
    }
    if (text == "~" || text.starts_with("~/")) {
      return bad_url(text, "'~' is not expanded here; write the path out");
    }
    url.path = text;
    return url;
  }
  const std::string_view scheme = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 3);
  if (scheme == "file") {
    if (!rest.starts_with('/')) {
      return bad_url(text, "a file URL has three slashes and an absolute path: file:///mnt/roots");
    }
    url.path = rest;
    return url;
  }
  if (scheme == "s3") {
    url.kind = StoreKind::kS3;
  } else if (scheme == "gs") {
    url.kind = StoreKind::kGcs;
  } else if (scheme == "az") {
    url.kind = StoreKind::kAzure;
    url.account = take_part(rest);
    if (!is_name(url.account)) {
      return bad_url(text,
                     "the storage account is missing or malformed: az://account/container/path");
    }
  } else {
    return bad_url(text, fmt::format("'{}' is no kind of store; a path, s3://, gs:// or az:// is{}",
                                     scheme.substr(0, 20), did_you_mean(scheme, kSchemes)));
  }
  url.bucket = take_part(rest);
  url.path = rest;
  if (!is_name(url.bucket)) {
    return bad_url(
        text, url.kind == StoreKind::kAzure
                  ? "the container is missing or malformed: az://account/container/path"
                  : fmt::format("the bucket is missing or malformed: {}://bucket/path", scheme));
  }
  return url;
}

}  // namespace outlast::store
