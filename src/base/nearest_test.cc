#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace outlast {
namespace {

constexpr std::array<std::string_view, 7> kWords = {"deadline", "budget", "name",   "run",
                                                    "root",     "spot",   "on_done"};

TEST(NearestWord, FindsOneSlipOfTheFingers) {
  EXPECT_EQ(nearest_word("deadlin", kWords), "deadline");    // one missing
  EXPECT_EQ(nearest_word("deadlinee", kWords), "deadline");  // one too many
  EXPECT_EQ(nearest_word("buxget", kWords), "budget");       // one wrong
  EXPECT_EQ(nearest_word("deadlien", kWords), "deadline");   // two swapped
  EXPECT_EQ(nearest_word("Budget", kWords), "budget");       // case
  EXPECT_EQ(nearest_word("on-done", kWords), "on_done");
}

TEST(NearestWord, AllowsMoreSlipsInLongerWords) {
  EXPECT_EQ(nearest_word("daedlien", kWords), "deadline");  // two
  EXPECT_EQ(nearest_word("naem", kWords), "name");
  EXPECT_EQ(nearest_word("rn", kWords), "run");
}

TEST(NearestWord, SaysNothingWhenNothingIsClose) {
  EXPECT_EQ(nearest_word("checkpoint", kWords), "");
  EXPECT_EQ(nearest_word("xy", kWords), "");
  EXPECT_EQ(nearest_word("", kWords), "");
  EXPECT_EQ(nearest_word("name", {}), "");
}

// A suggestion must share something with what was written.
TEST(NearestWord, NeverReplacesEveryLetter) {
  constexpr std::array<std::string_view, 1> kOneLetter = {"b"};
  EXPECT_EQ(nearest_word("a", kOneLetter), "");
}

TEST(NearestWord, PrefersTheCloserAndThenTheFirst) {
  constexpr std::array<std::string_view, 3> kClose = {"rood", "root", "roof"};
  EXPECT_EQ(nearest_word("root", kClose), "root");
  EXPECT_EQ(nearest_word("roo", kClose), "rood");
}

TEST(NearestWord, GivesUpOnVeryLongTextAtOnce) {
  EXPECT_EQ(nearest_word(std::string(100'000'000, 'a'), kWords), "");
}

TEST(DidYouMean, EndsASentence) {
  EXPECT_EQ(did_you_mean("budgte", kWords), "; did you mean 'budget'?");
  EXPECT_EQ(did_you_mean("zzzzzz", kWords), "");
}

}  // namespace
}  // namespace outlast
