#include "report/markup.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace outlast::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr char32_t kDelete = 0x7F;

// U+2400 and on: a picture for each control character.
std::string control_picture(char32_t code) {
  const unsigned last = code == kDelete ? 0x21U : static_cast<unsigned>(code);
  return {'\xE2', '\x90', static_cast<char>(0x80U + last)};
}

bool is_second_control(char32_t code) {
  return code >= 0x80 && code < 0xA0;
}

void append_ascii(std::string& out, char character) {
  switch (character) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&#39;";
      return;
    case '\t':
    case '\n':
      out += character;
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(character);
  if (code < 0x20 || code == kDelete) {
    out += control_picture(code);
  } else {
    out += character;
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (std::size_t offset = 0; offset < text.size();) {
    const std::optional<Utf8Character> character = decode_utf8(text, offset);
    const std::size_t bytes = character ? character->bytes : 1;
    if (!character || is_second_control(character->code)) {
      out += kReplacement;
    } else if (bytes == 1) {
      append_ascii(out, text[offset]);
    } else {
      out += text.substr(offset, bytes);
    }
    offset += bytes;
  }
  return out;
}

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string percent(double fraction) {
  return coordinate(std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) * 100 : 0) + "%";
}

void Markup::begin(std::string_view element, Attributes attributes) {
  out_ += '<';
  out_ += element;
  for (const Attribute& attribute : attributes) {
    out_ += fmt::format(" {}=\"{}\"", attribute.name, escaped(attribute.value));
  }
}

Markup& Markup::open(std::string_view element, Attributes attributes) {
  begin(element, attributes);
  out_ += '>';
  open_.emplace_back(element);
  return *this;
}

Markup& Markup::close() {
  OUTLAST_CHECK(!open_.empty(), "there is no element to close");
  out_ += fmt::format("</{}>", open_.back());
  open_.pop_back();
  return *this;
}

Markup& Markup::text(std::string_view text) {
  out_ += escaped(text);
  return *this;
}

Markup& Markup::leaf(std::string_view element, Attributes attributes, std::string_view text) {
  return open(element, attributes).text(text).close();
}

Markup& Markup::empty(std::string_view element, Attributes attributes) {
  begin(element, attributes);
  out_ += "/>";
  return *this;
}

Markup& Markup::raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

std::string Markup::take() {
  OUTLAST_CHECK(open_.empty(), "<{}> is not closed", open_.back());
  return std::move(out_);
}

}  // namespace outlast::report
