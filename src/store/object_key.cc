#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/utf8.h"
#include "store/object_store.h"

namespace outlast::store {
namespace {

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto character = decode_utf8(text, at);
    if (!character) return false;
    at += character->bytes;
  }
  return true;
}

Error bad_key(std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("the object's name {}", what)};
}

}  // namespace

Result<void> check_key(std::string_view key) {
  if (key.empty()) return bad_key("is empty");
  if (key.size() > 1024) {
    return bad_key(fmt::format("has {} bytes; at most 1,024 are possible", key.size()));
  }
  if (!is_utf8(key)) return bad_key("is not UTF-8");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(key.begin(), key.end(), is_control)) return bad_key("has a control character");
  for (std::size_t at = 0; at <= key.size();) {
    const std::size_t end = std::min(key.find('/', at), key.size());
    const std::string_view segment = key.substr(at, end - at);
    if (segment.empty()) return bad_key("has an empty part between slashes");
    if (segment == "." || segment == "..") return bad_key("has '.' or '..' as a part of its own");
    at = end + 1;
  }
  return {};
}

}  // namespace outlast::store
