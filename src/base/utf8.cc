#include "base/utf8.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace outlast {
namespace {

// The smallest character that needs this many bytes; a smaller one in as many bytes is overlong.
constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};

std::size_t length_from_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

}  // namespace

std::optional<Utf8Character> decode_utf8(std::string_view text, std::size_t offset) {
  const auto lead = static_cast<unsigned char>(text[offset]);
  const std::size_t bytes = length_from_lead(lead);
  if (bytes == 0 || bytes > text.size() - offset) return std::nullopt;
  if (bytes == 1) return Utf8Character{.code = lead, .bytes = 1};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[offset + i]);
    if ((next & 0xC0U) != 0x80) return std::nullopt;
    code = (code << 6U) | (next & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (code < kSmallest.at(bytes) || surrogate || code > 0x10FFFF) return std::nullopt;
  return Utf8Character{.code = code, .bytes = bytes};
}

bool is_utf8(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const std::optional<Utf8Character> character = decode_utf8(text, offset);
    if (!character) return false;
    offset += character->bytes;
  }
  return true;
}

}  // namespace outlast
