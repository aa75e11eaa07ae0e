#include "trainers/census/bins.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace outlast::trainers {
namespace {

// `values` are sorted.
std::vector<float> bin_ends(const std::vector<float>& values) {
  std::vector<float> different = values;
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.empty()) return {};
  if (different.size() <= kValueBinsMax) {
    different.pop_back();
    return different;
  }
  std::vector<float> ends;
  for (std::size_t bin = 1; bin < kValueBinsMax; ++bin) {
    const float end = values[bin * values.size() / kValueBinsMax];
    if ((ends.empty() || end > ends.back()) && end < values.back()) ends.push_back(end);
  }
  return ends;
}

// The rows' numbers within one group.
struct Joined {
  std::vector<std::size_t> columns;
  std::vector<std::uint16_t> numbers;
  std::size_t count = 0;
};

// Numbers for the pairs in the order of their first row; none if there are too many.
std::optional<Joined> joined(const Joined& left, const Joined& right) {
  if (std::max(left.count, right.count) > kJoinedMax) return std::nullopt;
  constexpr std::uint16_t kNone = 0xffff;
  std::vector<std::uint16_t> number_of(left.count * right.count, kNone);
  Joined both{.columns = left.columns, .numbers = {}};
  both.columns.insert(both.columns.end(), right.columns.begin(), right.columns.end());
  both.numbers.reserve(left.numbers.size());
  for (std::size_t row = 0; row < left.numbers.size(); ++row) {
    std::uint16_t& number = number_of[left.numbers[row] * right.count + right.numbers[row]];
    if (number == kNone) {
      if (both.count == kJoinedMax) return std::nullopt;
      number = static_cast<std::uint16_t>(both.count++);
    }
    both.numbers.push_back(number);
  }
  return both;
}

// Joins the two that have the fewest combinations, while there are two that may be joined.
void join_columns(std::vector<Joined>& groups) {
  std::vector<std::vector<std::size_t>> counts(groups.size(),
                                               std::vector<std::size_t>(groups.size()));
  const auto count_pairs = [&](std::size_t left, std::size_t right) {
    const std::optional<Joined> both = joined(groups[left], groups[right]);
    counts[left][right] = both ? both->count : kJoinedMax + 1;
  };
  for (std::size_t right = 0; right < groups.size(); ++right) {
    for (std::size_t left = 0; left < right; ++left) count_pairs(left, right);
  }
  while (true) {
    std::size_t fewest = kJoinedMax + 1;
    std::pair<std::size_t, std::size_t> chosen;
    for (std::size_t right = 0; right < groups.size(); ++right) {
      for (std::size_t left = 0; left < right; ++left) {
        if (counts[left][right] >= fewest) continue;
        fewest = counts[left][right];
        chosen = {left, right};
      }
    }
    if (fewest > kJoinedMax) return;
    const auto [keeps, goes] = chosen;
    // It is there: it was counted.
    if (std::optional<Joined> both = joined(groups[keeps], groups[goes])) {
      groups[keeps] = *std::move(both);
    }
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(goes));
    counts.erase(counts.begin() + static_cast<std::ptrdiff_t>(goes));
    for (auto& row : counts) row.erase(row.begin() + static_cast<std::ptrdiff_t>(goes));
    for (std::size_t other = 0; other < groups.size(); ++other) {
      if (other < keeps) count_pairs(other, keeps);
      if (other > keeps) count_pairs(keeps, other);
    }
  }
}

}  // namespace

std::uint8_t ColumnBins::code(float value) const {
  if (std::isnan(value)) return static_cast<std::uint8_t>(lasts.size() + 1);
  return static_cast<std::uint8_t>(std::lower_bound(lasts.begin(), lasts.end(), value) -
                                   lasts.begin());
}

std::vector<ColumnBins> learn_bins(const ValueRows& rows) {
  std::vector<ColumnBins> bins(rows.columns);
  for (std::size_t column = 0; column < rows.columns; ++column) {
    std::vector<float> values;
    values.reserve(rows.rows());
    for (std::size_t i = column; i < rows.values.size(); i += rows.columns) {
      if (!std::isnan(rows.values[i])) values.push_back(rows.values[i]);
    }
    bins[column].has_missing = values.size() < rows.rows();
    std::sort(values.begin(), values.end());
    bins[column].lasts = bin_ends(values);
  }
  return bins;
}

std::vector<std::uint8_t> bin_codes(const std::vector<ColumnBins>& bins, const ValueRows& rows) {
  std::vector<std::uint8_t> codes(rows.values.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = bins[i % rows.columns].code(rows.values[i]);
  }
  return codes;
}

GroupedRows group_columns(const std::vector<ColumnBins>& bins,
                          std::span<const std::uint8_t> codes) {
  const std::size_t columns = bins.size();
  const std::size_t rows = codes.size() / columns;
  std::vector<Joined> joined_columns;
  for (std::size_t column = 0; column < columns; ++column) {
    Joined one{.columns = {column}, .numbers = {}, .count = bins[column].count()};
    one.numbers.reserve(rows);
    for (std::size_t row = 0; row < rows; ++row)
      one.numbers.push_back(codes[row * columns + column]);
    joined_columns.push_back(std::move(one));
  }
  join_columns(joined_columns);
  GroupedRows grouped;
  grouped.combinations.resize(rows * joined_columns.size());
  for (std::size_t i = 0; i < joined_columns.size(); ++i) {
    const Joined& from = joined_columns[i];
    ColumnGroup group{.columns = from.columns, .first = grouped.combination_count};
    group.codes.resize(from.count * from.columns.size());
    // Of a single column all codes are there, also one that no row has.
    if (from.columns.size() == 1) {
      for (std::size_t code = 0; code < from.count; ++code) {
        group.codes[code] = static_cast<std::uint8_t>(code);
      }
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t number = from.numbers[row];
      grouped.combinations[row * joined_columns.size() + i] =
          static_cast<std::uint16_t>(group.first + number);
      for (std::size_t place = 0; place < from.columns.size(); ++place) {
        group.codes[number * from.columns.size() + place] =
            codes[row * columns + from.columns[place]];
      }
    }
    grouped.combination_count += from.count;
    grouped.groups.push_back(std::move(group));
  }
  return grouped;
}

}  // namespace outlast::trainers
