#include "job/money.h"

#include <gtest/gtest.h>

#include <string_view>

namespace outlast::job {
namespace {

TEST(Money, IsExact) {
  EXPECT_EQ(parse_money("5 USD")->micro_usd, 5'000'000);
  EXPECT_EQ(parse_money("5.00 USD")->micro_usd, 5'000'000);
  EXPECT_EQ(parse_money("0.1 USD")->micro_usd, 100'000);
  EXPECT_EQ(parse_money("0.000001 USD")->micro_usd, 1);
  EXPECT_EQ(parse_money("1000000000.999999 USD")->micro_usd, 1'000'000'000'999'999);
}

TEST(Money, IsWrittenWithAtLeastTwoDecimals) {
  EXPECT_EQ(format_money({5'000'000}), "5.00 USD");
  EXPECT_EQ(format_money({12'300}), "0.0123 USD");
  EXPECT_EQ(format_money({1}), "0.000001 USD");
  EXPECT_EQ(format_money({0}), "0.00 USD");
}

TEST(Money, SaysWhatIsWrong) {
  const auto why = [](std::string_view text) { return parse_money(text).error().sentence(); };
  EXPECT_EQ(why(""), "it does not start with a number");
  EXPECT_EQ(why("-5 USD"), "it does not start with a number");
  EXPECT_EQ(why("5"), "the currency is missing");
  EXPECT_EQ(why("5USD"), "a space and the currency must follow the number");
  EXPECT_EQ(why("5 EUR"), "USD is the only currency known so far");
  EXPECT_EQ(why("5 USD "), "USD is the only currency known so far");
  EXPECT_EQ(why("1.0000001 USD"), "one to six decimals can follow the point");
  EXPECT_EQ(why("1.000000000 USD"), "one to six decimals can follow the point");
  EXPECT_EQ(why("1. USD"), "one to six decimals can follow the point");
  EXPECT_EQ(why("1000000001 USD"), "it is too large");
  EXPECT_EQ(why("99999999999999999999999999 USD"), "it is too large");
}

}  // namespace
}  // namespace outlast::job
