#include "trainers/data/csv.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace outlast::trainers {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows csv_rows(std::string_view text) {
  CsvReader reader(text, "t.csv");
  Rows rows;
  while (true) {
    Result<std::optional<std::vector<std::string>>> row = reader.next();
    if (!row) {
      rows.push_back({row.error().to_string()});
      EXPECT_EQ(reader.next().value(), std::nullopt);
      return rows;
    }
    if (!*row) return rows;
    rows.push_back(**row);
  }
}

TEST(Csv, HasFieldsAndRows) {
  EXPECT_EQ(csv_rows(""), Rows());
  EXPECT_EQ(csv_rows("a,b\nc,d"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(csv_rows("a,b\r\nc,d\r\n"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(csv_rows(" a , b \n"), (Rows{{" a ", " b "}}));
  EXPECT_EQ(csv_rows(",\n,,"), (Rows{{"", ""}, {"", "", ""}}));
  EXPECT_EQ(csv_rows("\n\r\na\n\n"), (Rows{{"a"}}));
  EXPECT_EQ(csv_rows("\xEF\xBB\xBF"
                     "a,b"),
            (Rows{{"a", "b"}}));
  EXPECT_EQ(csv_rows("a\rb,c\n"), (Rows{{"a\rb", "c"}}));
}

TEST(Csv, TakesAnythingInQuotes) {
  EXPECT_EQ(csv_rows("\"a,b\",\"c\"\"d\"\n"), (Rows{{"a,b", "c\"d"}}));
  EXPECT_EQ(csv_rows("\"a\r\nb\nc\",d\r\n"), (Rows{{"a\r\nb\nc", "d"}}));
  EXPECT_EQ(csv_rows("\"\",\"\"\"\"\n\"x\""), (Rows{{"", "\""}, {"x"}}));
}

TEST(Csv, SaysWhereItIsWrong) {
  EXPECT_EQ(csv_rows("a,b\n\n\"x\ny\",\"z"),
            (Rows{{"a", "b"},
                  {"t.csv, row 2 (line 3), column 2: the quote that begins it is never closed"}}));
  EXPECT_EQ(csv_rows("\"a\"b\n"),
            (Rows{{"t.csv, row 1 (line 1), column 1: text behind the closing quote"}}));
  EXPECT_EQ(csv_rows("a\na,b\"c\"\n"),
            (Rows{{"a"},
                  {"t.csv, row 2 (line 2), column 2: a quote within a field that does not begin "
                   "with one"}}));
}

TEST(Csv, CountsRowsAndTheLinesTheyBeginOn) {
  CsvReader reader("a\n\n\"b\nb\"\nc\n", "t.csv");
  ASSERT_TRUE(reader.next().value());
  ASSERT_TRUE(reader.next().value());
  EXPECT_EQ(reader.line(), 3U);
  ASSERT_TRUE(reader.next().value());
  EXPECT_EQ(reader.row(), 3U);
  EXPECT_EQ(reader.line(), 5U);
}

}  // namespace
}  // namespace outlast::trainers
