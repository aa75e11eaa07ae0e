#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace outlast {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 1;  // how many it takes in the text
};

// The character that starts at `offset` (< text.size()), or nullopt where no valid one does: stray
// or missing continuation bytes, overlong forms, surrogates, beyond U+10FFFF.
std::optional<Utf8Character> decode_utf8(std::string_view text, std::size_t offset);

// Whether all of it is valid.
bool is_utf8(std::string_view text);

}  // namespace outlast
