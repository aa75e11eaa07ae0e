#include "sdk/tiny_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace outlast::sdk {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80U) {
    put(code);
  } else if (code < 0x800U) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000U) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

// Every function returns false where the text is no JSON; what it has made by then counts nothing.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  bool read_all(JsonValue& value) {
    if (!read_value(value, 0)) return false;
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() {
    const std::size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take_after_space(std::string_view word) {
    skip_space();
    return take(word);
  }

  bool read_value(JsonValue& value,
                  std::size_t depth) {  // NOLINT(misc-no-recursion): it is limited
    skip_space();
    if (rest_.empty() || depth >= kJsonDepthMax) return false;
    switch (rest_.front()) {
      case '{':
        return read_object(value, depth);
      case '[':
        return read_array(value, depth);
      case '"':
        value.kind = JsonValue::Kind::kString;
        return read_string(value.text);
      case 'n':
        return take("null");
      case 't':
      case 'f':
        value.kind = JsonValue::Kind::kBool;
        value.boolean = rest_.front() == 't';
        return take(value.boolean ? "true" : "false");
      default:
        return read_number(value);
    }
  }

  bool read_object(JsonValue& value, std::size_t depth) {
    value.kind = JsonValue::Kind::kObject;
    rest_.remove_prefix(1);
    if (take_after_space("}")) return true;
    do {
      skip_space();
      if (!read_string(value.names.emplace_back()) || !take_after_space(":")) return false;
      if (!read_value(value.items.emplace_back(), depth + 1)) return false;
    } while (take_after_space(","));
    return take_after_space("}");
  }

  bool read_array(JsonValue& value, std::size_t depth) {
    value.kind = JsonValue::Kind::kArray;
    rest_.remove_prefix(1);
    if (take_after_space("]")) return true;
    do {
      if (!read_value(value.items.emplace_back(), depth + 1)) return false;
    } while (take_after_space(","));
    return take_after_space("]");
  }

  bool read_string(std::string& out) {
    if (!take("\"")) return false;
    while (true) {
      std::size_t plain = 0;
      while (plain < rest_.size() && rest_[plain] != '"' && rest_[plain] != '\\' &&
             static_cast<unsigned char>(rest_[plain]) >= 0x20U) {
        ++plain;
      }
      out.append(rest_.substr(0, plain));
      rest_.remove_prefix(plain);
      if (take("\"")) return true;
      if (!take("\\") || !read_escape(out)) return false;
    }
  }

  bool read_escape(std::string& out) {
    if (rest_.empty()) return false;
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    if (const std::size_t at = kLetters.find(letter); at != std::string_view::npos) {
      out.push_back(kMeant[at]);
      return true;
    }
    std::uint32_t code = 0;
    if (letter != 'u' || !read_hex(code)) return false;
    if (code >= 0xD800U && code < 0xDC00U) {  // the first half of a pair
      std::uint32_t low = 0;
      if (!take("\\u") || !read_hex(low) || low < 0xDC00U || low > 0xDFFFU) return false;
      code = 0x10000U + ((code - 0xD800U) << 10U) + (low - 0xDC00U);
    } else if (code >= 0xDC00U && code <= 0xDFFFU) {
      return false;
    }
    append_utf8(out, code);
    return true;
  }

  bool read_hex(std::uint32_t& code) {
    constexpr std::size_t kDigits = 4;
    if (rest_.size() < kDigits) return false;
    const char* const begin = &rest_.front();
    const char* const end = begin + kDigits;
    const auto read = std::from_chars(begin, end, code, 16);
    rest_.remove_prefix(kDigits);
    return read.ec == std::errc() && read.ptr == end;
  }

  std::size_t digits_at(std::size_t at) const {
    std::size_t count = 0;
    while (at + count < rest_.size() && rest_[at + count] >= '0' && rest_[at + count] <= '9') {
      ++count;
    }
    return count;
  }

  // What from_chars() takes is more than what JSON allows, so the form is looked at first.
  bool read_number(JsonValue& value) {
    value.kind = JsonValue::Kind::kNumber;
    std::size_t at = rest_.starts_with('-') ? 1 : 0;
    const std::size_t digits = digits_at(at);
    if (digits == 0 || (digits > 1 && rest_[at] == '0')) return false;
    at += digits;
    bool is_whole = at == digits;
    if (at < rest_.size() && rest_[at] == '.') {
      const std::size_t after = digits_at(at + 1);
      if (after == 0) return false;
      at += 1 + after;
      is_whole = false;
    }
    if (at < rest_.size() && (rest_[at] == 'e' || rest_[at] == 'E')) {
      ++at;
      if (at < rest_.size() && (rest_[at] == '+' || rest_[at] == '-')) ++at;
      const std::size_t after = digits_at(at);
      if (after == 0) return false;
      at += after;
      is_whole = false;
    }
    const char* const begin = &rest_.front();
    const char* const end = begin + at;
    std::uint64_t whole = 0;
    if (is_whole && std::from_chars(begin, end, whole).ec == std::errc()) value.whole = whole;
    const bool fits = std::from_chars(begin, end, value.number).ec == std::errc();
    rest_.remove_prefix(at);
    return fits;
  }

  std::string_view rest_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return nullptr;
  return &items[static_cast<std::size_t>(std::distance(names.begin(), found))];
}

std::optional<JsonValue> read_json(std::string_view text) {
  JsonValue value;
  if (!is_utf8(text) || !JsonReader(text).read_all(value)) return std::nullopt;
  return value;
}

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      out.push_back('\\');
      out.push_back(character);
    } else if (code < 0x20U) {
      out.append("\\u00");
      out.push_back(kHexDigits[code >> 4U]);
      out.push_back(kHexDigits[code & 0xFU]);
    } else {
      out.push_back(character);
    }
  }
  out.push_back('"');
}

void append_json_number(std::string& out, double number) {
  constexpr std::size_t kLongest = 32;
  std::array<char, kLongest> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), written.ptr);
}

bool is_utf8(std::string_view text) {
  const auto byte_at = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t first = byte_at(at);
    if (first < 0x80U) {
      ++at;
      continue;
    }
    const std::size_t bytes = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : 2;
    if (first < 0xC2U || first > 0xF4U || text.size() - at < bytes) return false;
    std::uint32_t code = first & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
      if ((byte_at(at + i) & 0xC0U) != 0x80U) return false;
      code = (code << 6U) | (byte_at(at + i) & 0x3FU);
    }
    if ((bytes == 3 && code < 0x800U) || (bytes == 4 && code < 0x10000U)) return false;
    if ((code >= 0xD800U && code <= 0xDFFFU) || code > 0x10FFFFU) return false;
    at += bytes;
  }
  return true;
}

}  // namespace outlast::sdk
