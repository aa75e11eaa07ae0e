#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

// The census income data (UCI "Adult"): people of 1994, and whether they earned more than 50,000.
namespace outlast::trainers {

inline constexpr std::size_t kCensusColumns = 14;

struct CensusColumn {
  std::string_view name;
  bool is_number;
};
// In the order of the files.
const std::array<CensusColumn, kCensusColumns>& census_columns();

// People, column by column. A value.
struct CensusTable {
  struct Values {
    std::vector<float> numbers = {};      // of a column of numbers; NaN where the file has "?"
    std::vector<std::string> words = {};  // of another: all that occur, sorted; "?" is one of them
    std::vector<std::uint32_t> codes = {};  // which of them each person has
  };
  std::array<Values, kCensusColumns> columns = {};
  std::vector<std::uint8_t> earns_more = {};  // 1 or 0 for each person

  std::size_t rows() const { return earns_more.size(); }
};

struct CensusData {
  CensusTable train = {};
  CensusTable test = {};
  std::string from = {};  // a path, or that it is made up
};

// The text of adult.data or adult.test: a person a line, fields with commas and blanks between
// them, the label last ("<=50K" or ">50K", in adult.test with a "." after it). Empty lines and
// lines that begin with "|" are none of the data. kCorrupt, with `path`, the line, the column, what
// is there and what belongs there, for anything else; also if there is nobody in it, or the last
// line ends too early.
Result<CensusTable> parse_census(std::string_view text, const std::string& path);

// `path` is the folder of adult.data and adult.test, or adult.data's own path with adult.test
// beside it. kNotFound, with what belongs where, if a file is not there.
Result<CensusData> read_census(sys::FileSystem& files, const std::string& path);
// adult.test only: what evaluating needs.
Result<CensusTable> read_census_test(sys::FileSystem& files, const std::string& path);

struct SyntheticCensus {
  std::uint64_t seed = 0;
  std::size_t rows = 0;  // to train on; the test has half as many
};
// People that nobody counted, who earn by a rule of education, age, hours and marriage, one in ten
// against it. The same on every machine.
CensusData synthetic_census(const SyntheticCensus& wanted);

}  // namespace outlast::trainers
