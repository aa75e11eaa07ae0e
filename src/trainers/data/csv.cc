#include "trainers/data/csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace outlast::trainers {

CsvReader::CsvReader(std::string_view text, std::string name)
    : text_(text), name_(std::move(name)) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

Error CsvReader::error_at(std::size_t column, std::string_view what) const {
  return {ErrorCode::kCorrupt,
          fmt::format("{}, row {} (line {}), column {}: {}", name_, row_, line_, column, what)};
}

bool CsvReader::pass_row_end() {
  if (at_ == text_.size()) return true;
  if (text_.substr(at_).starts_with("\r\n")) {
    at_ += 2;
  } else if (text_[at_] == '\n') {
    ++at_;
  } else {
    return false;
  }
  ++next_line_;
  return true;
}

Result<std::string> CsvReader::quoted_field(std::size_t column) {
  std::string value;
  for (++at_; at_ < text_.size();) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) break;
    const std::string_view piece = text_.substr(at_, quote - at_);
    value += piece;
    next_line_ += static_cast<std::size_t>(std::ranges::count(piece, '\n'));
    at_ = quote + 1;
    if (at_ == text_.size() || text_[at_] != '"') return value;
    value += '"';
    ++at_;
  }
  return error_at(column, "the quote that begins it is never closed");
}

Result<std::string> CsvReader::field(std::size_t column) {
  if (at_ < text_.size() && text_[at_] == '"') return quoted_field(column);
  std::size_t end = std::min(text_.find_first_of(",\"\n", at_), text_.size());
  if (end < text_.size() && text_[end] == '"') {
    return error_at(column, "a quote within a field that does not begin with one");
  }
  // A CR belongs to the line's end only before an LF.
  if (end < text_.size() && text_[end] == '\n' && end > at_ && text_[end - 1] == '\r') --end;
  std::string value(text_.substr(at_, end - at_));
  at_ = end;
  return value;
}

Result<std::optional<std::vector<std::string>>> CsvReader::next() {
  do {
    if (at_ == text_.size()) return std::nullopt;
    line_ = next_line_;
  } while (pass_row_end());
  ++row_;
  std::vector<std::string> fields;
  while (true) {
    const std::size_t column = fields.size() + 1;
    Result<std::string> value = field(column);
    if (!value) {
      at_ = text_.size();
      return value.error();
    }
    fields.push_back(*std::move(value));
    if (pass_row_end()) return fields;
    if (text_[at_] != ',') {
      at_ = text_.size();
      return error_at(column, "text behind the closing quote");
    }
    ++at_;
    if (at_ == text_.size()) {
      fields.emplace_back();
      return fields;
    }
  }
}

}  // namespace outlast::trainers
