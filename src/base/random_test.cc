#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

namespace outlast {
namespace {

constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kUint64Max = std::numeric_limits<std::uint64_t>::max();

class RandomDeathTest : public testing::Test {
 protected:
  RandomDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// The C++ standard publishes this one for its default seed.
TEST(Random, IsTheStandardsEngine) {
  Random random(5489);
  for (int i = 0; i < 9999; ++i) random.next();
  EXPECT_EQ(random.next(), 9981545732273789042U);
}

// A seed is a history that somebody may have to replay years later: these draws never change.
TEST(Random, DrawsTheSameForASeedForEver) {
  Random random(42);
  EXPECT_EQ(random.next(), 13930160852258120406U);
  EXPECT_EQ(random.next(), 11788048577503494824U);
  EXPECT_EQ(random.below(1000), 450U);
  EXPECT_EQ(random.between(-50, 50), 25);
  EXPECT_EQ(random.unit(), 0x1.0p-53 * 8135923561244355);
  EXPECT_EQ(random.fork().next(), 9572847873611917077U);
  EXPECT_EQ(make_token(random, 12), "jb8c0gnmtyre");
}

TEST(Random, BelowStaysBelow) {
  Random random(1);
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7},
                                    (std::uint64_t{1} << 63) + 1, kUint64Max}) {
    for (int i = 0; i < 200; ++i) ASSERT_LT(random.below(bound), bound);
  }
  EXPECT_EQ(random.below(1), 0U);
}

// A plain remainder would draw the lower half of this bound twice as often as the upper.
TEST(Random, BelowIsUnbiasedForHugeBounds) {
  Random random(2);
  const std::uint64_t bound = kUint64Max / 4 * 3;
  int low_third = 0;
  for (int i = 0; i < 30'000; ++i) low_third += random.below(bound) < bound / 3 ? 1 : 0;
  EXPECT_NEAR(low_third, 10'000, 500);
}

TEST(Random, BelowReachesEveryValueAboutAsOften) {
  Random random(3);
  std::array<int, 10> seen{};
  for (int i = 0; i < 10'000; ++i) ++seen.at(random.below(10));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(Random, BetweenIncludesBothEnds) {
  Random random(4);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.between(-1, 1));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-1, 0, 1}));
  EXPECT_EQ(random.between(7, 7), 7);
}

TEST(Random, BetweenSpansEveryInteger) {
  Random random(5);
  EXPECT_EQ(random.between(kInt64Min, kInt64Min), kInt64Min);
  EXPECT_EQ(random.between(kInt64Max, kInt64Max), kInt64Max);
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t draw = random.between(kInt64Min, kInt64Max);
    negative = negative || draw < 0;
    positive = positive || draw > 0;
    ASSERT_LE(random.between(kInt64Min, kInt64Max - 1), kInt64Max - 1);
  }
  EXPECT_TRUE(negative && positive);
}

TEST_F(RandomDeathTest, RefusesEmptyRanges) {
  Random random(6);
  EXPECT_DEATH(random.below(0), "below\\(0\\)");
  EXPECT_DEATH(random.between(2, 1), "between\\(2, 1\\)");
}

TEST(Random, UnitIsBelowOne) {
  Random random(7);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double draw = random.unit();
    ASSERT_GE(draw, 0.0);
    ASSERT_LT(draw, 1.0);
    sum += draw;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, ChanceOfZeroNeverAndOfOneAlways) {
  Random random(8);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(random.chance(0.0));
    ASSERT_TRUE(random.chance(1.0));
  }
}

TEST(Random, ForksDrawDifferently) {
  Random random(9);
  Random first = random.fork();
  Random second = random.fork();
  EXPECT_NE(first.next(), second.next());
}

TEST(MakeToken, UsesOnlyTheThirtyTwoSafeCharacters) {
  Random random(10);
  const std::string token = make_token(random, 5000);
  EXPECT_EQ(token.size(), 5000U);
  EXPECT_EQ(std::set<char>(token.begin(), token.end()).size(), 32U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdefghjkmnpqrstvwxyz"), std::string::npos);
  EXPECT_EQ(make_token(random, 0), "");
}

}  // namespace
}  // namespace outlast
