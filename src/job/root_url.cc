#include "job/root_url.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "base/result.h"
#include "base/yaml.h"

namespace outlast::job {
namespace {

constexpr std::array<std::string_view, 4> kSchemes = {"file", "s3", "gs", "az"};
constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

Error bad_root(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

struct NameRule {
  std::string_view what;
  std::size_t length_min;
  std::size_t length_max;
  std::string_view besides;  // characters besides lower-case letters and digits
};
constexpr NameRule kBucketRule = {"bucket", 3, 222, "-_."};
constexpr NameRule kAccountRule = {"storage account", 3, 24, ""};
constexpr NameRule kContainerRule = {"container", 3, 63, "-"};

// Takes the first part of a URL's path off the front.
std::string_view take_part(std::string_view& rest) {
  const std::size_t length = rest.find('/');
  const std::string_view part = rest.substr(0, length);
  rest.remove_prefix(length == std::string_view::npos ? rest.size() : length + 1);
  return part;
}

Result<void> check_name(std::string_view name, const NameRule& rule) {
  if (name.empty()) return bad_root(fmt::format("the {} is missing", rule.what));
  if (name.size() < rule.length_min || name.size() > rule.length_max) {
    return bad_root(fmt::format("a {}'s name has {} to {} characters", rule.what, rule.length_min,
                                rule.length_max));
  }
  const auto is_alphanumeric = [](char c) {
    return kLower.find(c) != std::string_view::npos || kDigits.find(c) != std::string_view::npos;
  };
  for (const char c : name) {
    if (is_alphanumeric(c) || rule.besides.find(c) != std::string_view::npos) continue;
    return bad_root(fmt::format("{} cannot be in the name of a {}",
                                quote_for_message(std::string_view(&c, 1)), rule.what));
  }
  if (!is_alphanumeric(name.front()) || !is_alphanumeric(name.back())) {
    return bad_root(fmt::format("a {}'s name starts and ends with a letter or digit", rule.what));
  }
  return {};
}

// Keys in a bucket are bytes, not paths: "a//b", "a/./b" and "a/b" are three places.
Result<void> check_prefix(std::string_view prefix) {
  while (!prefix.empty()) {
    const std::string_view part = take_part(prefix);
    if (part.empty()) return bad_root("there is a '//' in the prefix");
    if (part == "." || part == "..") return bad_root(fmt::format("'{}' is not a folder", part));
  }
  return {};
}

}  // namespace

Result<std::string> canonical_root(std::string_view text) {
  if (text.empty()) return bad_root("it is empty");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      return bad_root("it has a control character");
    }
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) {
    for (const std::string_view scheme : kSchemes) {
      if (text.starts_with(scheme) && text.substr(scheme.size()).starts_with(":")) {
        return bad_root(fmt::format("write {}:// with two slashes", scheme));
      }
    }
    if (text.front() == '~') return bad_root("'~' is not expanded here; write the path out");
    while (text.size() > 1 && text.back() == '/') text.remove_suffix(1);
    return std::string(text);
  }
  const std::string_view scheme = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 3);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  std::string canonical = fmt::format("{}://{}", scheme, rest);
  if (scheme == "file") {
    if (text.substr(colon + 3).empty() || text[colon + 3] != '/') {
      return bad_root("a file URL has three slashes and a whole path: file:///path");
    }
    return rest.empty() ? "file:///" : canonical;
  }
  if (rest.find_first_of(" ?#@\\") != std::string_view::npos) {
    return bad_root("a space, '?', '#', '@' or '\\' cannot be in it");
  }
  if (scheme == "s3" || scheme == "gs") {
    OUTLAST_TRY(check_name(take_part(rest), kBucketRule));
  } else if (scheme == "az") {
    OUTLAST_TRY(check_name(take_part(rest), kAccountRule));
    OUTLAST_TRY(check_name(take_part(rest), kContainerRule));
  } else {
    return bad_root(fmt::format("{} is not a kind of root{}", quote_for_message(scheme),
                                did_you_mean(scheme, kSchemes)));
  }
  OUTLAST_TRY(check_prefix(rest));
  return canonical;
}

}  // namespace outlast::job
