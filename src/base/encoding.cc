#include "base/encoding.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"

namespace outlast {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

constexpr std::string_view alphabet(Base64 variant) {
  return variant == Base64::kStandard
             ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
             : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
}

constexpr std::uint8_t kBad = 0xff;

// For each character its place in `digits`, or kBad.
constexpr std::array<std::uint8_t, 256> inverse(std::string_view digits) {
  std::array<std::uint8_t, 256> table{};
  table.fill(kBad);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    table[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}

constexpr auto kStandardValues = inverse(alphabet(Base64::kStandard));
constexpr auto kUrlValues = inverse(alphabet(Base64::kUrl));

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Error bad(const char* what) {
  return {ErrorCode::kInvalidArgument, what};
}

}  // namespace

std::string hex_encode(BytesView bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    const auto value = std::to_integer<unsigned>(b);
    text += kHexDigits[value >> 4];
    text += kHexDigits[value & 15];
  }
  return text;
}

Result<Bytes> hex_decode(std::string_view text) {
  if (text.size() % 2 != 0) return bad("hex text has an odd number of digits");
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return bad("hex text has a character that is not a hex digit");
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

std::string base64_encode(BytesView bytes, Base64 variant) {
  const std::string_view digits = alphabet(variant);
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? std::to_integer<unsigned>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      if (k <= count) {
        text += digits[group >> (18 - 6 * k) & 63];
      } else if (variant == Base64::kStandard) {
        text += '=';
      }
    }
  }
  return text;
}

Result<Bytes> base64_decode(std::string_view text, Base64 variant) {
  if (variant == Base64::kStandard) {
    if (text.size() % 4 != 0) return bad("base64 text is not a multiple of four characters long");
    for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return bad("base64 text ends in the middle of a byte");
  const auto& values = variant == Base64::kStandard ? kStandardValues : kUrlValues;
  Bytes bytes;
  bytes.reserve(text.size() * 3 / 4);
  unsigned group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const unsigned value = values[static_cast<unsigned char>(c)];
    if (value == kBad) return bad("base64 text has a character that is not a base64 digit");
    group = (group << 6 | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<std::byte>(group >> bits & 0xff));
    }
  }
  if ((group & ((1U << bits) - 1)) != 0) return bad("base64 text has stray bits at its end");
  return bytes;
}

}  // namespace outlast
