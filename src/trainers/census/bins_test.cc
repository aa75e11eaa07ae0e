#include "trainers/census/bins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace outlast::trainers {
namespace {

TEST(Bins, FewValuesHaveABinEach) {
  const std::vector<float> values = {3, -1, 3, 10, -1, 0};
  const ColumnBins bins = learn_bins({.values = values, .columns = 1}).front();
  EXPECT_EQ(bins.count(), 4U);
  EXPECT_EQ(bins.code(-1), 0);
  EXPECT_EQ(bins.code(0), 1);
  EXPECT_EQ(bins.code(3), 2);
  EXPECT_EQ(bins.code(10), 3);
  // Values that were not seen.
  EXPECT_EQ(bins.code(-5), 0);
  EXPECT_EQ(bins.code(2), 2);
  EXPECT_EQ(bins.code(99), 3);
}

TEST(Bins, ManyValuesShareThemEvenly) {
  Random random(3);
  std::vector<float> values;
  for (int i = 0; i < 10'000; ++i) values.push_back(static_cast<float>(random.below(1'000'000)));
  const std::vector<ColumnBins> bins = learn_bins({.values = values, .columns = 1});
  ASSERT_EQ(bins.front().count(), kValueBinsMax);
  std::array<std::size_t, 256> rows = {};
  for (const std::uint8_t code : bin_codes(bins, {.values = values, .columns = 1})) {
    ++rows.at(code);
  }
  EXPECT_LE(*std::max_element(rows.begin(), rows.begin() + kValueBinsMax), 42U);
  EXPECT_GE(*std::min_element(rows.begin(), rows.begin() + kValueBinsMax), 36U);
  EXPECT_EQ(rows[kValueBinsMax], 0U);
}

TEST(Bins, AMissingValueIsAboveAllOthersAndHasABinIfItWasSeen) {
  const std::vector<float> values = {1, NAN, 2, 3, 3, NAN};  // two columns
  const std::vector<ColumnBins> bins = learn_bins({.values = values, .columns = 2});
  EXPECT_EQ(bins[0].count(), 3U);
  EXPECT_EQ(bins[0].code(NAN), 3);
  EXPECT_EQ(bins[1].count(), 2U);
  EXPECT_EQ(bins[1].code(NAN), 1);
  EXPECT_EQ(bins[1].code(3), 0);
}

TEST(Bins, AColumnOfNothingButMissingValuesIsOne) {
  const std::vector<float> values = {NAN, NAN};
  const std::vector<ColumnBins> bins = learn_bins({.values = values, .columns = 1});
  EXPECT_LT(bins.front().code(NAN), bins.front().count());
}

TEST(Groups, ACombinationTellsTheCodesOfItsRows) {
  Random random(4);
  constexpr std::size_t kColumns = 5;
  constexpr std::array<std::uint64_t, kColumns> kDifferent = {2, 6, 200, 16, 40};
  std::vector<float> values;
  for (std::size_t row = 0; row < 3000; ++row) {
    for (const std::uint64_t different : kDifferent) {
      values.push_back(static_cast<float>(random.below(different)));
    }
  }
  const ValueRows rows{.values = values, .columns = kColumns};
  const std::vector<ColumnBins> bins = learn_bins(rows);
  const std::vector<std::uint8_t> codes = bin_codes(bins, rows);
  const GroupedRows grouped = group_columns(bins, codes);
  ASSERT_EQ(grouped.groups.size(), 4U);  // 2 and 6 are joined; with 16 they would be too many
  ASSERT_EQ(grouped.combinations.size(), rows.rows() * grouped.groups.size());
  std::size_t columns = 0;
  for (std::size_t i = 0; i < grouped.groups.size(); ++i) {
    const ColumnGroup& group = grouped.groups[i];
    const std::size_t width = group.columns.size();
    columns += width;
    EXPECT_LE(group.count(), width > 1 ? kJoinedMax : 255U);
    for (std::size_t row = 0; row < rows.rows(); ++row) {
      const std::size_t number =
          grouped.combinations[row * grouped.groups.size() + i] - group.first;
      ASSERT_LT(number, group.count());
      for (std::size_t place = 0; place < width; ++place) {
        ASSERT_EQ(group.codes[number * width + place],
                  codes[row * kColumns + group.columns[place]]);
      }
    }
  }
  EXPECT_EQ(columns, kColumns);
}

}  // namespace
}  // namespace outlast::trainers
