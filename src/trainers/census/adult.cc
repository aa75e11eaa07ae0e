#include "trainers/census/adult.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kCensusBytesMax = 1U << 30U;
constexpr std::size_t kFields = kCensusColumns + 1;
constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kShownMax = 40;

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// What stood in the file, short enough for a sentence.
std::string shown(std::string_view text) {
  std::string plain;
  for (const char letter : text.substr(0, kShownMax)) {
    plain += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return text.size() > kShownMax ? plain + "..." : plain;
}

std::optional<std::uint8_t> label_of(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text == ">50K") return std::uint8_t{1};
  if (text == "<=50K") return std::uint8_t{0};
  return std::nullopt;
}

// Reads one file; keeps for each column the numbers that its words got in the order in which they
// came.
class CensusReader {
 public:
  explicit CensusReader(const std::string& path) : path_(path) {}

  Result<CensusTable> read(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = without_blanks(text.substr(0, end));
      ends_in_line_ = end == std::string_view::npos;
      text.remove_prefix(ends_in_line_ ? text.size() : end + 1);
      ++number;
      if (line.empty() || line.starts_with('|')) continue;
      OUTLAST_TRY(read_line(line, number));
    }
    if (table_.rows() == 0) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("{} has no people in it: one line each is expected", path_));
    }
    for (std::size_t column = 0; column < kCensusColumns; ++column) sort_words(column);
    return std::move(table_);
  }

 private:
  Error bad(std::size_t line, std::string_view what) const {
    return {ErrorCode::kCorrupt,
            fmt::format("{}: line {}{}: {}", path_, line,
                        ends_in_line_ ? ", the last one, which seems to be cut off" : "", what)};
  }

  Result<void> read_line(std::string_view line, std::size_t number) {
    std::array<std::string_view, kFields> fields;
    std::size_t count = 0;
    for (std::string_view rest = line;; ++count) {
      const std::size_t comma = rest.find(',');
      if (count < kFields) fields[count] = without_blanks(rest.substr(0, comma));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    ++count;
    if (count != kFields) {
      return bad(number, fmt::format("it has {} fields, and {} are expected", count, kFields));
    }
    const std::optional<std::uint8_t> label = label_of(fields.back());
    if (!label) {
      return bad(number, fmt::format("column income: '{}', where <=50K or >50K is expected",
                                     shown(fields.back())));
    }
    for (std::size_t column = 0; column < kCensusColumns; ++column) {
      OUTLAST_TRY(read_field(fields[column], column, number));
    }
    table_.earns_more.push_back(*label);
    return {};
  }

  Result<void> read_field(std::string_view field, std::size_t column, std::size_t line) {
    CensusTable::Values& values = table_.columns[column];
    const auto& [name, is_number] = census_columns()[column];
    if (field.empty()) {
      return bad(line, fmt::format("column {}: nothing, where {} is expected", name,
                                   is_number ? "a number" : "a word, or '?',"));
    }
    if (!is_number) {
      auto& words = words_[column];
      auto found = words.find(field);
      if (found == words.end()) {
        found = words.emplace(std::string(field), static_cast<std::uint32_t>(words.size())).first;
      }
      values.codes.push_back(found->second);
      return {};
    }
    if (field == "?") {
      values.numbers.push_back(std::numeric_limits<float>::quiet_NaN());
      return {};
    }
    const std::optional<double> number = parse_decimal(field);
    if (!number || std::abs(*number) > std::numeric_limits<float>::max()) {
      return bad(line,
                 fmt::format("column {}: '{}', where a number is expected", name, shown(field)));
    }
    values.numbers.push_back(static_cast<float>(*number));
    return {};
  }

  // So that nothing depends on who came first.
  void sort_words(std::size_t column) {
    CensusTable::Values& values = table_.columns[column];
    std::vector<std::uint32_t> sorted_code(words_[column].size());
    for (const auto& [word, code] : words_[column]) {
      sorted_code[code] = static_cast<std::uint32_t>(values.words.size());
      values.words.push_back(word);
    }
    for (std::uint32_t& code : values.codes) code = sorted_code[code];
  }

  const std::string& path_;
  CensusTable table_;
  std::array<std::map<std::string, std::uint32_t, std::less<>>, kCensusColumns> words_;
  bool ends_in_line_ = false;  // there is no end of the line that is being read
};

struct CensusPaths {
  std::string train = {};
  std::string test = {};
};

CensusPaths paths_at(sys::FileSystem& files, const std::string& path) {
  // A symlink to the folder is one, too: only what is called like the file is taken for it.
  const bool is_file = sys::base_name(path) == "adult.data" && !files.list(path);
  const std::string folder = is_file ? sys::parent_path(path) : path;
  return {.train = is_file ? path : sys::join_path(folder, "adult.data"),
          .test = sys::join_path(folder, "adult.test")};
}

Result<CensusTable> read_table(sys::FileSystem& files, const std::string& path) {
  Result<std::string> text = sys::read_file(files, path, kCensusBytesMax);
  if (!text && text.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no {}: --data is the folder of adult.data and adult.test, "
                             "which --download fetches; 'synthetic' needs neither",
                             path));
  }
  OUTLAST_TRY(text);
  return parse_census(*text, path);
}

}  // namespace

const std::array<CensusColumn, kCensusColumns>& census_columns() {
  static constexpr std::array<CensusColumn, kCensusColumns> kColumns = {{
      {.name = "age", .is_number = true},
      {.name = "workclass", .is_number = false},
      {.name = "fnlwgt", .is_number = true},
      {.name = "education", .is_number = false},
      {.name = "education-num", .is_number = true},
      {.name = "marital-status", .is_number = false},
      {.name = "occupation", .is_number = false},
      {.name = "relationship", .is_number = false},
      {.name = "race", .is_number = false},
      {.name = "sex", .is_number = false},
      {.name = "capital-gain", .is_number = true},
      {.name = "capital-loss", .is_number = true},
      {.name = "hours-per-week", .is_number = true},
      {.name = "native-country", .is_number = false},
  }};
  return kColumns;
}

Result<CensusTable> parse_census(std::string_view text, const std::string& path) {
  return CensusReader(path).read(text);
}

Result<CensusData> read_census(sys::FileSystem& files, const std::string& path) {
  const CensusPaths paths = paths_at(files, path);
  CensusData data;
  OUTLAST_TRY_ASSIGN(data.train, read_table(files, paths.train));
  OUTLAST_TRY_ASSIGN(data.test, read_table(files, paths.test));
  const auto earners = std::count(data.train.earns_more.begin(), data.train.earns_more.end(), 1);
  if (earners == 0 || static_cast<std::size_t>(earners) == data.train.rows()) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("{}: all {} people have the same income, so that nothing can be learnt",
                    paths.train, data.train.rows()));
  }
  data.from = path;
  return data;
}

Result<CensusTable> read_census_test(sys::FileSystem& files, const std::string& path) {
  return read_table(files, paths_at(files, path).test);
}

}  // namespace outlast::trainers
