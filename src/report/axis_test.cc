#include "report/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace outlast::report {
namespace {

std::vector<std::string> texts_of(double seconds, int ticks_max) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis_ticks(seconds, ticks_max)) texts.push_back(tick.text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Axis, CountsInStepsThatPeopleCountIn) {
  EXPECT_EQ(texts_of(0.01, 6), (Texts{"0", "2ms", "4ms", "6ms", "8ms", "10ms"}));
  EXPECT_EQ(texts_of(4.2, 6), (Texts{"0", "1s", "2s", "3s", "4s"}));
  EXPECT_EQ(texts_of(170, 7), (Texts{"0", "30s", "1m", "1m30s", "2m", "2m30s"}));
  EXPECT_EQ(texts_of(3.0 * 3600, 4), (Texts{"0", "1h", "2h", "3h"}));
  EXPECT_EQ(texts_of(86400 * 17.0, 5), (Texts{"0", "5d", "10d", "15d"}));
}

TEST(Axis, EverySecondTickIsMajor) {
  const auto ticks = axis_ticks(4, 6);
  ASSERT_EQ(ticks.size(), 5U);
  EXPECT_TRUE(ticks[0].is_major);
  EXPECT_FALSE(ticks[1].is_major);
  EXPECT_TRUE(ticks[4].is_major);
}

TEST(Axis, AnAxisWithoutLengthHasOnlyItsBeginning) {
  for (const double seconds : {0.0, -3.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(texts_of(seconds, 10), Texts{"0"});
  }
}

TEST(Axis, EveryLengthHasFewDifferentTicksOnIt) {
  for (double seconds = 0.004; seconds < 4e9; seconds *= 1.37) {
    const auto ticks = axis_ticks(seconds, 11);
    ASSERT_GE(ticks.size(), 3U) << seconds;
    ASSERT_LE(ticks.size(), 11U) << seconds;
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      ASSERT_LE(ticks[i].at, seconds);
      ASSERT_NE(ticks[i].text, ticks[i - 1].text) << seconds;
    }
  }
}

}  // namespace
}  // namespace outlast::report
