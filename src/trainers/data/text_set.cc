#include "trainers/data/text_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "trainers/data/csv.h"
#include "trainers/data/data_file.h"

namespace outlast::trainers {
namespace {

using CsvRow = std::vector<std::string>;

// Where a row has what is wanted of it.
struct CsvForm {
  std::vector<std::size_t> text = {};  // the columns that make the text, from 0
  std::size_t label = 0;
  std::uint32_t first_label = 0;
  std::size_t columns = 0;
  bool header = false;
};

std::optional<std::uint32_t> label_in(std::string_view field) {
  return parse_number<std::uint32_t>(ascii_trimmed(field));
}

Result<CsvForm> form_of(const CsvRow& first, const CsvReader& reader) {
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(
        std::ranges::find_if(
            first,
            [&](const std::string& field) { return ascii_lower(ascii_trimmed(field)) == name; }) -
        first.begin());
  };
  if (column("text") < first.size() && column("label") < first.size()) {
    return CsvForm{.text = {column("text")},
                   .label = column("label"),
                   .columns = first.size(),
                   .header = true};
  }
  if (first.size() == 2 && label_in(first[1])) {
    return CsvForm{.text = {0}, .label = 1, .columns = 2};
  }
  if (first.size() == 3 && label_in(first[0])) {
    return CsvForm{.text = {1, 2}, .label = 0, .first_label = 1, .columns = 3};
  }
  return reader.error_at(
      1,
      "this is neither a header with the columns text and label, nor a row of text and label, nor "
      "one of label, title and description");
}

Result<void> add_row(const CsvRow& row, const CsvForm& form, const CsvReader& reader,
                     TextSet& set) {
  if (row.size() != form.columns) {
    return reader.error_at(
        row.size(),
        fmt::format("the row ends here, after {} fields instead of {}", row.size(), form.columns));
  }
  const std::optional<std::uint32_t> label = label_in(row[form.label]);
  if (!label || *label < form.first_label || *label - form.first_label >= kTextClassesMax) {
    return reader.error_at(form.label + 1,
                           fmt::format("'{}' is no label: it must be a number from {} to {}",
                                       row[form.label].substr(0, 40), form.first_label,
                                       form.first_label + kTextClassesMax - 1));
  }
  std::string text;
  for (const std::size_t column : form.text) {
    if (!text.empty()) text += ' ';
    text += row[column];
  }
  set.texts.push_back(std::move(text));
  const auto from_zero = static_cast<std::uint16_t>(*label - form.first_label);
  set.labels.push_back(from_zero);
  set.class_count = std::max(set.class_count, std::size_t{from_zero} + 1);
  return {};
}

Result<TextSet> read_text_csv(sys::FileSystem& files, const std::string& folder,
                              std::string_view name) {
  const std::string path = sys::join_path(folder, name);
  OUTLAST_TRY_ASSIGN(const bool there, is_data_file(files, path));
  if (!there) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no {}: put train.csv and test.csv there, each with rows of "
                             "text and label, or of label, title and description",
                             path));
  }
  OUTLAST_TRY_ASSIGN(const std::string text, sys::read_file(files, path, 4ULL << 30U));
  return parse_text_csv(text, path);
}

}  // namespace

Result<TextSet> parse_text_csv(std::string_view text, const std::string& name) {
  CsvReader reader(text, name);
  TextSet set;
  OUTLAST_TRY_ASSIGN(std::optional<CsvRow> row, reader.next());
  if (!row) return Error(ErrorCode::kCorrupt, fmt::format("{} has no rows", name));
  OUTLAST_TRY_ASSIGN(const CsvForm form, form_of(*row, reader));
  if (form.header) {
    OUTLAST_TRY_ASSIGN(row, reader.next());
  }
  while (row) {
    OUTLAST_TRY(add_row(*row, form, reader, set));
    OUTLAST_TRY_ASSIGN(row, reader.next());
  }
  if (set.texts.empty()) {
    return Error(ErrorCode::kCorrupt, fmt::format("{} has no rows but its header", name));
  }
  return set;
}

Result<TextData> read_text_folder(sys::FileSystem& files, const std::string& folder) {
  TextData data;
  data.from = folder;
  OUTLAST_TRY_ASSIGN(data.train, read_text_csv(files, folder, "train.csv"));
  OUTLAST_TRY_ASSIGN(data.test, read_text_csv(files, folder, "test.csv"));
  data.train.class_count = data.test.class_count =
      std::max(data.train.class_count, data.test.class_count);
  return data;
}

}  // namespace outlast::trainers
