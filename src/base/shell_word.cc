#include "base/shell_word.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace outlast {

bool is_plain_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,+@").find(c) != std::string_view::npos;
  });
}

std::string shell_word(std::string_view text) {
  if (is_plain_word(text)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace outlast
