#pragma once

#include <cstddef>
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

// Without the blanks and line ends around it.
constexpr std::string_view ascii_trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace outlast
