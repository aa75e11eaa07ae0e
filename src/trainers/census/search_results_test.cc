#include "trainers/census/search_results.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "trainers/metrics.h"

namespace outlast::trainers {
namespace {

SearchResults four() {
  return SearchResults({.seed = 1, .configurations = 4, .people = {10, 12}});
}

TEST(SearchResults, TheBestToldMostPeopleRightAndCameFirst) {
  SearchResults results = four();
  EXPECT_FALSE(results.best());
  results.set(3, {9, 9});
  results.set(2, {8, 10});
  results.set(1, {9, 8});
  EXPECT_EQ(results.best(), 2U);
  EXPECT_DOUBLE_EQ(results.accuracy(2), 18.0 / 22);
  EXPECT_FALSE(results.is_complete());
  EXPECT_EQ(results.missing(), (std::vector<bool>{true, false, false, false}));
}

TEST(SearchResults, MetricsGoUpToTheFirstGapAndDoNotTellWhoWasFirst) {
  SearchResults one = four();
  one.set(2, {1, 2});
  EXPECT_EQ(one.metrics_text(), "");
  one.set(0, {3, 4});
  EXPECT_EQ(one.metrics_lines(), 1U);
  one.set(1, {5, 6});
  SearchResults other = four();
  other.set(0, {3, 4});
  other.set(1, {5, 6});
  other.set(2, {1, 2});
  EXPECT_EQ(one.metrics_lines(), 3U);
  EXPECT_EQ(one.metrics_text(), other.metrics_text());
  const std::vector<MetricsPoint> points = one.metrics().points();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_DOUBLE_EQ(*points[2].test_accuracy, 3.0 / 22);
  EXPECT_DOUBLE_EQ(*points[2].accuracy, 11.0 / 22);
  EXPECT_NE(one.metrics_text().find(R"("best_accuracy":0.5,)"), std::string::npos);
}

TEST(SearchResults, ComeBackFromTheirText) {
  SearchResults results = four();
  results.set(3, {9, 9});
  results.set(0, {10, 0});
  SearchResults read = four();
  ASSERT_TRUE(read.restore(results.text()));
  EXPECT_EQ(read.text(), results.text());
  EXPECT_EQ(read.done(), 2U);
  EXPECT_LE(results.text().size(), results.bytes_max());
}

TEST(SearchResults, RefuseTextsThatCannotBeTheirsAndStayAsTheyAre) {
  SearchResults results = four();
  results.set(1, {1, 1});
  const std::string before = results.text();
  for (const std::string text :
       {"0 1\n", "0 1 2 3\n", "4 1 1\n", "0 11 1\n", "0 1 13\n", "0 1 1\n0 1 1\n", "x\n", "\n",
        "0 -1 1\n", "0 99999999999999999999 1\n"}) {
    const auto outcome = results.restore(text);
    ASSERT_FALSE(outcome) << text;
    EXPECT_EQ(outcome.error().code(), ErrorCode::kCorrupt);
    EXPECT_EQ(results.text(), before);
  }
}

}  // namespace
}  // namespace outlast::trainers
