#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace outlast {
namespace {

TEST(ParseNumber, TakesAllThatTheTypeCanHold) {
  EXPECT_EQ(parse_number<std::uint64_t>("0"), 0U);
  EXPECT_EQ(parse_number<std::uint64_t>("007"), 7U);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775808"), INT64_MIN);
}

TEST(ParseNumber, RefusesWhatTheTypeCannotHold) {
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parse_number<std::int8_t>("-129"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("-1"), std::nullopt);
}

TEST(ParseNumber, RefusesEverythingThatIsNotJustANumber) {
  for (const std::string_view text : {"", " ", "-", "+1", " 1", "1 ", "1x", "x1", "1.0", "1e3",
                                      "0x1", "--1", "1\n", "\xd9\xa1"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<int>(std::string_view("1\0", 2)), std::nullopt);
  EXPECT_EQ(parse_number<int>(std::string_view()), std::nullopt);
}

TEST(ParseDecimal, TakesFractionsAndExponents) {
  EXPECT_EQ(parse_decimal("0"), 0.0);
  EXPECT_EQ(parse_decimal("0.001"), 0.001);
  EXPECT_EQ(parse_decimal("1e-4"), 0.0001);
  EXPECT_EQ(parse_decimal("-2.5E+3"), -2500.0);
  EXPECT_EQ(parse_decimal("1.7976931348623157e308"), 1.7976931348623157e308);
}

TEST(ParseDecimal, RefusesEverythingThatIsNotJustAFiniteNumber) {
  for (const std::string_view text :
       {"",   " ",   "-",   "+1",   " 1",       "1 ",  "1x",  "x1",    "1,5",    "1.5.2",
        "1e", "0x1", "inf", "-inf", "infinity", "nan", "NaN", "1e999", "-1e999", "1e-999"}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, KnowsOtherBases) {
  EXPECT_EQ(parse_number<std::uint32_t>("DeadBeef", 16), 0xdeadbeefU);
  EXPECT_EQ(parse_number<std::uint32_t>("0xff", 16), std::nullopt);
  EXPECT_EQ(parse_number<std::uint32_t>("644", 8), 0644U);
  EXPECT_EQ(parse_number<std::uint32_t>("648", 8), std::nullopt);
}

}  // namespace
}  // namespace outlast
