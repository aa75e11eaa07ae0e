#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace outlast::drill {

// What others have printed or named, without what would steer the terminal.
inline std::string shown(std::string_view text) {
  std::string plain(text);
  std::ranges::replace_if(
      plain, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return plain;
}

}  // namespace outlast::drill
