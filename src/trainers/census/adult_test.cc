#include "trainers/census/adult.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "trainers/census/census_encoding.h"

namespace outlast::trainers {
namespace {

constexpr const char* kTwoPeople =
    "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, "
    "40, United-States, <=50K\n"
    "50, Private, 83311, HS-grad, 9, Married-civ-spouse, Sales, Husband, White, Male, 0, 0, 13, "
    "Cuba, >50K\n";

// What reading these bytes says.
std::string complaint(const std::string& text) {
  const auto table = parse_census(text, "d/adult.data");
  if (table) return "";
  EXPECT_EQ(table.error().code(), ErrorCode::kCorrupt);
  return table.error().sentence();
}

std::string with(const std::string& what, const std::string& instead) {
  std::string text = kTwoPeople;
  return text.replace(text.find(what), what.size(), instead);
}

TEST(Adult, ReadsNumbersWordsAndLabels) {
  const auto table = parse_census(kTwoPeople, "p");
  ASSERT_TRUE(table) << table.error().to_string();
  ASSERT_EQ(table->rows(), 2U);
  EXPECT_EQ(table->columns[0].numbers, (std::vector<float>{39, 50}));
  EXPECT_EQ(table->columns[1].words, (std::vector<std::string>{"Private", "State-gov"}));
  EXPECT_EQ(table->columns[1].codes, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(table->columns[6].words, (std::vector<std::string>{"?", "Sales"}));
  EXPECT_EQ(table->earns_more, (std::vector<std::uint8_t>{0, 1}));
}

TEST(Adult, LeavesOutTheTestsFirstLineEmptyLinesAndTheDotAfterLabels) {
  const auto table =
      parse_census("|1x3 Cross validator\r\n" + with("<=50K", "<=50K.") + "\n\n", "p");
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_EQ(table->rows(), 2U);
}

TEST(Adult, AMissingNumberIsMissing) {
  const auto table = parse_census(with("39", "?"), "p");
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_TRUE(std::isnan(table->columns[0].numbers[0]));
}

TEST(Adult, SaysWhereItIsWrongAndWhatBelongsThere) {
  EXPECT_EQ(complaint(with("83311", "many")),
            "d/adult.data: line 2: column fnlwgt: 'many', where a number is expected");
  EXPECT_EQ(complaint(with(">50K", "50K")),
            "d/adult.data: line 2: column income: '50K', where <=50K or >50K is expected");
  EXPECT_EQ(complaint(with(" 2174,", "")),
            "d/adult.data: line 1: it has 14 fields, and 15 are expected");
  EXPECT_EQ(complaint(with("State-gov", "")),
            "d/adult.data: line 1: column workclass: nothing, where a word, or '?', is expected");
  EXPECT_EQ(complaint("\n|only this\n"),
            "d/adult.data has no people in it: one line each is expected");
}

TEST(Adult, SaysThatTheFileIsCutOffWhereverThatIs) {
  const std::string text = kTwoPeople;
  const std::size_t second = text.find('\n') + 1;
  // Without its last line break, or the blank before the last one's label, it may be whole.
  for (std::size_t length = second + 1; length < text.size() - 1; ++length) {
    EXPECT_NE(complaint(text.substr(0, length)).find("line 2, the last one, which seems to be cut"),
              std::string::npos)
        << length;
  }
  EXPECT_EQ(complaint(text.substr(0, text.size() - 1)), "");
}

TEST(SyntheticCensus, IsTheSameForASeedAndAnotherForAnother) {
  const CensusData one = synthetic_census({.seed = 1, .rows = 50});
  EXPECT_EQ(one.train.columns[2].numbers,
            synthetic_census({.seed = 1, .rows = 50}).train.columns[2].numbers);
  EXPECT_NE(one.train.columns[2].numbers,
            synthetic_census({.seed = 2, .rows = 50}).train.columns[2].numbers);
  EXPECT_EQ(one.test.rows(), 25U);
  EXPECT_EQ(one.from, "made-up people");
}

TEST(SyntheticCensus, HasEnoughOfBothKinds) {
  const CensusData data = synthetic_census({.seed = 3, .rows = 1000});
  const auto earners =
      std::count(data.train.earns_more.begin(), data.train.earns_more.end(), std::uint8_t{1});
  EXPECT_GT(earners, 200);
  EXPECT_LT(earners, 500);
}

TEST(CensusEncoding, OrdersWordsByWhoEarnsMoreAmongTheRowsThatItMaySee) {
  CensusTable table;
  for (std::size_t column = 0; column < kCensusColumns; ++column) {
    if (census_columns()[column].is_number) {
      table.columns[column].numbers.assign(6, 0);
    } else {
      table.columns[column].words = {"a", "b", "c"};
      table.columns[column].codes = {0, 0, 1, 1, 2, 2};
    }
  }
  table.earns_more = {1, 1, 0, 0, 1, 0};
  const std::vector<std::uint32_t> rows = census_rows(table);
  const CensusEncoding all = learn_census_encoding(table, rows);
  EXPECT_EQ(all.words[1], (std::vector<std::string>{"b", "c", "a"}));
  const CensusEncoding some = learn_census_encoding(table, std::vector<std::uint32_t>{2, 5});
  EXPECT_EQ(some.words[1], (std::vector<std::string>{"b", "c"}));
  const std::vector<float> encoded = encode_census(some, table, rows);
  EXPECT_TRUE(std::isnan(encoded[1]));
  EXPECT_EQ(encoded[2 * kCensusColumns + 1], 0);
  EXPECT_EQ(encoded[4 * kCensusColumns + 1], 1);
}

TEST(CensusEncoding, ComesBackFromItsText) {
  const CensusData data = synthetic_census({.seed = 1, .rows = 100});
  const CensusEncoding encoding = learn_census_encoding(data.train, census_rows(data.train));
  const auto read = parse_census_encoding(to_text(encoding));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, encoding);
  EXPECT_FALSE(parse_census_encoding("{}"));
  EXPECT_FALSE(parse_census_encoding("[1]"));
  EXPECT_FALSE(parse_census_encoding("nothing"));
}

}  // namespace
}  // namespace outlast::trainers
