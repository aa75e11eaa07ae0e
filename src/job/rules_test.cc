#include "job/rules.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>

#include "job/place.h"
#include "job/spec.h"

namespace outlast::job {
namespace {

using std::chrono::minutes;

TEST(Rules, EveryIsTimeStepsEpochsOrAuto) {
  using Unit = CheckpointEvery::Unit;
  EXPECT_EQ(*parse_every("auto"), CheckpointEvery{});
  EXPECT_EQ(*parse_every("30m"), (CheckpointEvery{.unit = Unit::kTime, .time = minutes(30)}));
  EXPECT_EQ(*parse_every("500 steps"), (CheckpointEvery{.unit = Unit::kSteps, .count = 500}));
  EXPECT_EQ(*parse_every("1 epoch"), (CheckpointEvery{.unit = Unit::kEpochs, .count = 1}));
  for (const std::string_view text :
       {"auto", "30m", "500 steps", "1 step", "2 epochs", "1 epoch"}) {
    EXPECT_EQ(format_every(*parse_every(text)), text);
  }
  for (const std::string_view text :
       {"", "steps", "0 steps", "-1 steps", "1.5 steps", "5 minutes", "500  steps", "500steps",
        "2 epochs ", "0s", "9999999999999 steps", "99999999999999999999999 steps"}) {
    EXPECT_FALSE(parse_every(text)) << text;
  }
}

TEST(Rules, OnFailedKeepsForAWhile) {
  EXPECT_EQ(*parse_on_failed("shutdown"), OnFailed{});
  EXPECT_EQ(*parse_on_failed("keep"), (OnFailed{.keep = true, .keep_for = {}}));
  EXPECT_EQ(*parse_on_failed("keep 30m"), (OnFailed{.keep = true, .keep_for = minutes(30)}));
  for (const std::string_view text : {"shutdown", "keep", "keep 1h30m"}) {
    EXPECT_EQ(format_on_failed(*parse_on_failed(text)), text);
  }
  for (const std::string_view text :
       {"", "keep ", "keep 30", "keep  30m", "shutdown 30m", "Keep"}) {
    EXPECT_FALSE(parse_on_failed(text)) << text;
  }
}

TEST(Rules, SpansAreFromASecondToTenYears) {
  EXPECT_EQ(*parse_span("1s"), std::chrono::seconds(1));
  EXPECT_EQ(*parse_span("3650d"), std::chrono::hours(24 * 3650));
  EXPECT_FALSE(parse_span("999ms"));
  EXPECT_FALSE(parse_span("3651d"));
}

TEST(Place, DisksKeepTheUnitTheyWereChosenIn) {
  EXPECT_EQ(format_disk(200'000'000'000), "200GB");
  EXPECT_EQ(format_disk(std::uint64_t{50} << 30U), "50GiB");
}

}  // namespace
}  // namespace outlast::job
