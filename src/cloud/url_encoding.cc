#include "cloud/url_encoding.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"

namespace outlast::cloud {
namespace {

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string encode(std::string_view text, bool keep_slash) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slash && c == '/')) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  return encode(text, false);
}

std::string percent_encode_path(std::string_view path) {
  return encode(path, true);
}

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto byte = hex_decode(text.substr(i + 1, 2));
    if (!byte || byte->size() != 1) {
      return Error(ErrorCode::kInvalidArgument, "a % that no two hex digits follow");
    }
    out += static_cast<char>(byte->front());
    i += 2;
  }
  return out;
}

std::string encode_query(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out += '&';
    out += percent_encode(name);
    out += '=';
    out += percent_encode(value);
  }
  return out;
}

}  // namespace outlast::cloud
