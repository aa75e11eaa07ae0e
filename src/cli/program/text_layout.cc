#include "cli/program/text_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace outlast::cli {
namespace {

constexpr std::size_t kPrintableMax = 100;

// In UTF-8, every byte but these begins a character.
bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

std::string_view clip(std::string_view text, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!continues_character(text[i]) && characters++ == width) return text.substr(0, i);
  }
  return text;
}

std::string pad(std::string_view text, std::size_t width) {
  std::string padded(text);
  const std::size_t have = display_width(text);
  if (have < width) padded.append(width - have, ' ');
  return padded;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line.append(" ").append(word);
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::string paragraph(std::string_view text, std::size_t indent, std::size_t width) {
  std::string laid_out;
  for (const std::string& line : wrap(text, width - indent)) {
    laid_out.append(indent, ' ').append(line).append("\n");
  }
  return laid_out;
}

std::string definition(std::string_view left, std::string_view right, std::size_t indent,
                       std::size_t column, std::size_t width) {
  std::string laid_out = std::string(indent, ' ').append(left);
  const bool fits = indent + display_width(left) + 2 <= column;
  if (right.empty()) return laid_out + "\n";
  if (!fits) laid_out.append("\n");
  const std::string rest = paragraph(right, column, width);
  if (!fits) return laid_out + rest;
  return pad(laid_out, column) + rest.substr(column);
}

std::string table(const std::vector<std::vector<std::string>>& rows,
                  const std::vector<bool>& is_number) {
  std::vector<std::size_t> widths(is_number.size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.at(i)));
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = row.at(i);
      if (widths[i] == 0) continue;
      if (!line.empty()) line += "  ";
      if (is_number[i]) line.append(widths[i] - display_width(cell), ' ');
      line += is_number[i] ? cell : pad(cell, widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string printable(std::string_view text) {
  const std::string_view shown = clip(text, kPrintableMax);
  std::string safe = printable_whole(shown);
  if (shown.size() < text.size()) safe += "...";
  return safe;
}

std::string printable_whole(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U || byte == 0x7FU) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace outlast::cli
