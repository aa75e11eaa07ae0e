#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Values sorted into bins, of which trees need only know the number. Columns are independent of
// each other. Pure.
namespace outlast::trainers {

// In a column: values in as many bins, and one more for those that are missing.
constexpr std::size_t kValueBinsMax = 255;

// A column's bins: each has one value of its own, or, if there are too many values, as many rows as
// the others, about. A value.
struct ColumnBins {
  std::vector<float> lasts = {};  // the greatest value in each bin but the last, rising
  bool has_missing = false;       // whether rows without a value were seen

  // How many different codes the rows have that they were learnt from.
  std::size_t count() const { return lasts.size() + 1 + (has_missing ? 1 : 0); }
  // The number of the value's bin. A missing value counts as greater than all others.
  std::uint8_t code(float value) const;
};

struct ValueRows {
  std::span<const float> values = {};  // a row after the other; NaN is missing
  std::size_t columns = 1;

  std::size_t rows() const { return values.size() / columns; }
};

std::vector<ColumnBins> learn_bins(const ValueRows& rows);
// As many codes as values, a row after the other.
std::vector<std::uint8_t> bin_codes(const std::vector<ColumnBins>& bins, const ValueRows& rows);

// Columns whose values together have few combinations, as one: a histogram over the combinations
// costs one addition for a row, and tells the histogram of each of its columns.
struct ColumnGroup {
  std::vector<std::size_t> columns = {};
  std::size_t first = 0;  // the number of its first combination, counted through all groups
  // For each combination the codes that it stands for, as many as columns.
  std::vector<std::uint8_t> codes = {};

  std::size_t count() const { return codes.size() / columns.size(); }
};

struct GroupedRows {
  std::vector<ColumnGroup> groups = {};
  // For each row the numbers of its combinations, as many as groups.
  std::vector<std::uint16_t> combinations = {};
  std::size_t combination_count = 0;  // of all groups
};

// Joins columns as long as a group has no more than this many combinations.
constexpr std::size_t kJoinedMax = 128;
GroupedRows group_columns(const std::vector<ColumnBins>& bins, std::span<const std::uint8_t> codes);

}  // namespace outlast::trainers
