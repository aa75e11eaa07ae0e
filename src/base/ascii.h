#pragma once

#include <string>
#include <string_view>

// Not <cctype>: what the locale says counts neither on the wire nor in a file.
namespace outlast {

constexpr char ascii_lower_char(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// With a to z for A to Z, and everything else, UTF-8 too, as it is.
inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower_char(c);
  return lower;
}

}  // namespace outlast
