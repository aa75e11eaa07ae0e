#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace outlast::trainers {

// The rows of a CSV text as RFC 4180 has it: fields between commas, optionally in quotes, within
// which commas, line ends and doubled quotes stand for themselves; rows end in LF or CRLF, the last
// one needs no end. Empty lines are passed over. Blanks are part of a field. A byte order mark at
// the start is not. Rows may differ in how many fields they have: that is the caller's to judge.
// Confined to its owner; the text must outlive it.
class CsvReader {
 public:
  // `name` is the file's, for errors.
  CsvReader(std::string_view text, std::string name);

  // The next row, nullopt after the last. kCorrupt, with the row and the column, for a quote that
  // is not closed, text behind a closing quote, or a quote within a plain field. After an error:
  // nothing more.
  Result<std::optional<std::vector<std::string>>> next();

  // Of the row that next() gave last, from 1; a header counts, an empty line does not.
  std::size_t row() const { return row_; }
  // The line of the file on which that row begins, from 1.
  std::size_t line() const { return line_; }
  // An error about a field of that row: "<name>, row 7 (line 9), column 2: <what>".
  Error error_at(std::size_t column, std::string_view what) const;

 private:
  Result<std::string> field(std::size_t column);
  Result<std::string> quoted_field(std::size_t column);
  // Whether a row's end is here, which is then passed; also at the end of the text.
  bool pass_row_end();

  const std::string_view text_;
  const std::string name_;
  std::size_t at_ = 0;
  std::size_t next_line_ = 1;  // of at_
  std::size_t row_ = 0;
  std::size_t line_ = 0;
};

}  // namespace outlast::trainers
