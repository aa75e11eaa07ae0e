#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Bytes as text. Decoding is strict: apart from the case of hex digits there is one text for each
// byte string, and everything else is refused.
namespace outlast {

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

// The bytes of a text, without a copy.
inline BytesView as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
// The text of some bytes, without a copy.
inline std::string_view as_text(BytesView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Lower case.
std::string hex_encode(BytesView bytes);
// Either case.
Result<Bytes> hex_decode(std::string_view text);

enum class Base64 {
  kStandard,  // + and /, padded: HTTP headers, Azure block ids
  kUrl,       // - and _, not padded: JWTs
};
std::string base64_encode(BytesView bytes, Base64 variant = Base64::kStandard);
Result<Bytes> base64_decode(std::string_view text, Base64 variant = Base64::kStandard);

}  // namespace outlast
