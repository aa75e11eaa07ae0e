#include "base/check.h"

#include <gtest/gtest.h>

namespace outlast {
namespace {

// A class, because death tests fork: "threadsafe" runs each in a fresh process, which stays right
// when the program around it has threads.
class CheckDeathTest : public testing::Test {
 protected:
  CheckDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CheckDeathTest, StopsWithConditionAndValues) {
  const int epoch = 3;
  EXPECT_DEATH(OUTLAST_CHECK(epoch > 5, "epoch {} after {}", epoch, 5),
               "check_test.cc:[0-9]+: broken invariant: epoch > 5: epoch 3 after 5");
}

TEST_F(CheckDeathTest, PrintsBracesAndPercentSignsOfValuesAsTheyAre) {
  EXPECT_DEATH(OUTLAST_CHECK(false, "{}", "100%s {}"), "false: 100%s \\{\\}");
}

#ifndef NDEBUG
TEST_F(CheckDeathTest, DcheckStopsInDebugBuilds) {
  EXPECT_DEATH(OUTLAST_DCHECK(1 > 2, "never"), "1 > 2: never");
}
#else
TEST(Check, DcheckIsNotEvaluatedInReleaseBuilds) {
  int evaluated = 0;
  OUTLAST_DCHECK(++evaluated < 0, "never");
  EXPECT_EQ(evaluated, 0);
}
#endif

TEST(Check, EvaluatesConditionOnceAndMessageNotAtAllWhenItHolds) {
  int conditions = 0;
  int messages = 0;
  OUTLAST_CHECK(++conditions > 0, "{}", ++messages);
  EXPECT_EQ(conditions, 1);
  EXPECT_EQ(messages, 0);
}

// Would not compile, or bind the else to the wrong if, were the macro not one statement.
TEST(Check, IsOneStatement) {
  bool other_branch = false;
  if (other_branch)
    OUTLAST_CHECK(true, "never");
  else
    other_branch = true;
  EXPECT_TRUE(other_branch);
}

}  // namespace
}  // namespace outlast
