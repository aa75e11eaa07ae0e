#include "trainers/schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace outlast::trainers {
namespace {

TEST(Schedule, IsReadAndWritten) {
  for (const std::string text :
       {"constant", "step:7:0.1", "cosine", "linear", "linear+warmup:100", "step:2:0.5+warmup:3"}) {
    const Result<Schedule> schedule = parse_schedule(text);
    ASSERT_TRUE(schedule) << text;
    EXPECT_EQ(to_string(*schedule), text);
  }
}

TEST(Schedule, RefusesWhatIsNone) {
  for (const std::string text :
       {"", "steps", "step", "step:7", "step:0:0.1", "step:7:0", "step:7:nan", "step:7:0.1x",
        "cosine+warmup:", "cosine+warmup:x", "cosine+warmup:1+warmup:2", "step:-1:0.1"}) {
    EXPECT_FALSE(parse_schedule(text)) << text;
  }
}

double factor(const std::string& text, std::uint64_t step) {
  return schedule_factor(*parse_schedule(text),
                         {.step = step, .steps = 100, .steps_per_epoch = 10});
}

TEST(Schedule, FallsInSteps) {
  EXPECT_EQ(factor("step:2:0.5", 0), 1);
  EXPECT_EQ(factor("step:2:0.5", 19), 1);
  EXPECT_EQ(factor("step:2:0.5", 20), 0.5);
  EXPECT_EQ(factor("step:2:0.5", 99), 0.0625);
}

TEST(Schedule, WarmsUpAndFallsToZero) {
  EXPECT_EQ(factor("linear+warmup:9", 0), 0.1);
  EXPECT_EQ(factor("linear+warmup:9", 8), 0.9);
  EXPECT_EQ(factor("linear+warmup:9", 9), 1);
  EXPECT_NEAR(factor("linear+warmup:9", 99), 1.0 / 91, 1e-12);
  EXPECT_EQ(factor("linear", 50), 0.5);
  EXPECT_NEAR(factor("cosine", 50), 0.5, 1e-12);
  EXPECT_EQ(factor("cosine", 0), 1);
  EXPECT_EQ(factor("constant", 99), 1);
}

TEST(Schedule, GoesOnWhereItWasPlannedToEnd) {
  EXPECT_EQ(factor("linear", 200), 0);
  EXPECT_EQ(factor("cosine", 200), 0);
}

}  // namespace
}  // namespace outlast::trainers
