#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/utf8.h"
#include "base/yaml.h"

namespace outlast {
namespace {

// Longer texts are cut in messages.
constexpr std::size_t kQuotedCharactersMax = 60;

// Plain words that some YAML reader takes for something else than text.
constexpr std::array<std::string_view, 16> kSpecialWords = {
    "~", "null", "true", "false", "yes",   "no",   "on", "off",
    "y", "n",    ".inf", "-.inf", "+.inf", ".nan", "=",  "<<"};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Every form of number or date that some YAML reader knows, and a little more.
bool looks_like_number(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const bool based =
      text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o' || text[1] == 'b');
  const std::string_view allowed = based ? "0123456789abcdefABCDEF_" : "0123456789_.:eE+-TZ";
  if (based) text.remove_prefix(2);
  return text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_special_word(std::string_view text) {
  return std::ranges::find(kSpecialWords, ascii_lower(text)) != kSpecialWords.end();
}

// Cautious: also safe inside [] and {}, where more characters have a meaning.
bool is_safe_unquoted(std::string_view text) {
  if (text.empty() || text.size() > 4096 || is_special_word(text) || looks_like_number(text)) {
    return false;
  }
  const bool home = text.starts_with("~/");
  if (!home && !is_letter_or_digit(text[0]) && text[0] != '.' && text[0] != '/' && text[0] != '_') {
    return false;
  }
  if (text == "..." || text.starts_with("... ") || text.back() == ' ' || text.back() == ':') {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_letter_or_digit(c)) continue;
    if (c == ' ') continue;  // before '#' it is refused below, as every '#' is
    if (c == ':' && text[i + 1] != ' ') continue;
    if (std::string_view("_./-+=~@%()$;&|<>!?*'^\"\\").find(c) == std::string_view::npos)
      return false;
  }
  return true;
}

bool may_disturb(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c < 0x2010) ||
         (c >= 0x2028 && c < 0x202F) || (c >= 0x2060 && c < 0x2070) || c == 0xFEFF || c == 0xFFFE ||
         c == 0xFFFF;
}

// Nothing in it needs an escape, apart from line ends and tabs.
bool is_printable(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const auto character = decode_utf8(text, offset);
    if (!character) return false;
    const bool plain = character->code == '\n' || character->code == '\t';
    if (!plain && may_disturb(character->code)) return false;
    offset += character->bytes;
  }
  return true;
}

std::string yaml_escape(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  const auto code = static_cast<unsigned>(c);
  return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  if (is_safe_unquoted(text)) return std::string(text);
  std::string quoted = "\"";
  for (std::size_t offset = 0; offset < text.size();) {
    const Utf8Character character =
        decode_utf8(text, offset).value_or(Utf8Character{.code = 0xFFFD});
    const std::string_view bytes = text.substr(offset, character.bytes);
    offset += character.bytes;
    if (character.code == '"' || character.code == '\\') {
      quoted += '\\';
      quoted += bytes;
    } else if (may_disturb(character.code)) {
      quoted += yaml_escape(character.code);
    } else {
      quoted += bytes;
    }
  }
  return quoted + '"';
}

std::string yaml_block(std::string_view text, std::size_t indent) {
  const bool several = text.find('\n') != std::string_view::npos;
  // White space at the start would set another indentation; a line end at the end, another ending.
  if (!several || text.front() == ' ' || text.front() == '\t' || text.front() == '\n' ||
      text.back() == '\n' || !is_printable(text)) {
    return yaml_scalar(text);
  }
  std::string block = "|-";
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    block += '\n';
    if (length > 0) block.append(indent, ' ').append(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return block;
}

std::string quote_for_message(std::string_view text) {
  std::string quoted = "'";
  std::size_t characters = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    if (++characters > kQuotedCharactersMax) return quoted + "…'";
    const auto character = decode_utf8(text, offset);
    if (!character) {
      quoted += "\xEF\xBF\xBD";
      ++offset;
      continue;
    }
    quoted += may_disturb(character->code) ? yaml_escape(character->code)
                                           : std::string(text.substr(offset, character->bytes));
    offset += character->bytes;
  }
  return quoted + "'";
}

}  // namespace outlast
