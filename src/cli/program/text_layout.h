#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Laying out plain text in columns. Widths count characters (code points), not bytes.
namespace outlast::cli {

inline constexpr std::size_t kHelpWidth = 80;

std::size_t display_width(std::string_view text);
// The first `width` characters.
std::string_view clip(std::string_view text, std::size_t width);
// With spaces up to `width`.
std::string pad(std::string_view text, std::size_t width);

// Breaks at spaces so that lines have at most `width` characters; a longer word gets a line of its
// own.
std::vector<std::string> wrap(std::string_view text, std::size_t width);
// Wrapped, every line after `indent` spaces and with its end.
std::string paragraph(std::string_view text, std::size_t indent, std::size_t width = kHelpWidth);

// Two columns: `left` at `indent`, `right` wrapped from `column` on; on a new line if left is too
// long.
std::string definition(std::string_view left, std::string_view right, std::size_t indent,
                       std::size_t column, std::size_t width = kHelpWidth);

// Columns as wide as their widest cell, two spaces apart; the rows have as many cells as
// `is_number`, whose columns are right-aligned. A column that is empty in all rows is left out.
std::string table(const std::vector<std::vector<std::string>>& rows,
                  const std::vector<bool>& is_number);

// What somebody typed or a program printed, safe to show: control characters become \xNN, and what
// is longer than 100 characters is cut.
std::string printable(std::string_view text);
// The same, however long: for what people copy from a listing.
std::string printable_whole(std::string_view text);

}  // namespace outlast::cli
