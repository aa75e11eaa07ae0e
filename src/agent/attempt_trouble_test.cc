#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/testing/attempt_trial.h"
#include "base/error.h"
#include "base/time.h"
#include "notice/notice_board.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::kSteps;
using testing::kStepTime;
using testing::Trial;

TEST(AttemptTrouble, ARootThatIsAwayForMinutesDelaysSavesAndNothingElse) {
  Trial trial;
  std::optional<Beat> worst;
  trial.after_step = [&](int step) {
    if (step == 6) trial.is_away = true;
    if (step == 20) {
      worst = trial.witness.beats.back();
      trial.is_away = false;
    }
  };
  trial.run();
  const std::vector<std::string> failed = trial.witness.texts("save-failed");
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_TRUE(failed.front().starts_with("checkpoints cannot be saved: ")) << failed.front();
  EXPECT_TRUE(failed.front().ends_with("; training goes on, and it is tried again"))
      << failed.front();
  EXPECT_EQ(trial.witness.texts("caught-up"),
            std::vector<std::string>{"checkpoints can be saved again"});
  EXPECT_EQ(trial.witness.texts("began").size() + trial.witness.texts("resumed").size(), 1U);
  // While it was away, whoever looked saw by how much it had fallen behind.
  ASSERT_TRUE(worst);
  EXPECT_GT(worst->lag.value_or(Duration::zero()), Duration(minutes(3)));
  EXPECT_TRUE(worst->trouble.starts_with("checkpoints cannot be saved: ")) << worst->trouble;
  EXPECT_EQ(trial.witness.beats.back().trouble, "");
  EXPECT_FALSE(trial.witness.beats.back().lag);
}

TEST(AttemptTrouble, ANoticeThatComesAfterTheEndDoesNotUndoIt) {
  Trial trial;
  trial.after_step = [&](int step) { trial.is_away = step == kSteps; };
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kStepTime * kSteps + seconds(10), {});
    board.post({.source = "news", .ends = world.clock.mono_now() + minutes(5)});
    (void)world.clock.sleep_for(seconds(30), {});
    trial.is_away = false;
  };
  trial.run();
  EXPECT_EQ(trial.witness.texts("notice").size(), 1U);
  // Said once more when nobody trains any more.
  ASSERT_EQ(trial.witness.texts("save-failed").size(), 1U);
  EXPECT_TRUE(trial.witness.texts("save-failed")
                  .front()
                  .ends_with("; the trainer has ended, and its last state is tried again"));
}

TEST(AttemptTrouble, WhoMustGoWithoutHavingSavedSaysSo) {
  Trial trial;
  trial.after_step = [&](int step) { trial.is_away = step >= 6; };
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kStepTime * 8, {});
    board.post({.source = "news", .ends = world.clock.mono_now() + seconds(30), .why = "a storm"});
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kBroken);
  EXPECT_TRUE(
      ending.why.starts_with("a storm; the last state is not saved: checkpoints cannot be "))
      << ending.why;
}

TEST(AttemptTrouble, AClockThatJumpsByADayChangesNothing) {
  for (const Duration first : {Duration(hours(24)), Duration(-hours(24))}) {
    Trial trial;
    trial.after_step = [&](int step) {
      if (step == 10) trial.machine().clock().jump(first);
      if (step == 20) trial.machine().clock().jump(-2 * first);
    };
    trial.run();
    EXPECT_TRUE(trial.witness.texts("save-failed").empty());
    // Saves are as often as they were: one a minute.
    EXPECT_GT(trial.witness.texts("saved").size(), kSteps / 3U);
    for (const Beat& beat : trial.witness.beats) {
      EXPECT_LT(beat.lag.value_or(Duration::zero()), Duration(minutes(5)));
    }
  }
}

TEST(AttemptTrouble, ARootThatNeverAnswersIsRefusedAfterAWhile) {
  Trial trial;
  trial.is_away = true;
  trial.on_machine([&](sys::World& world) {
    const auto begun = trial.begin(world);
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code(), ErrorCode::kUnavailable);
    EXPECT_TRUE(begun.error().sentence().starts_with("the root does not answer, for "))
        << begun.error().to_string();
    EXPECT_NE(begun.error().sentence().find(" now; nothing was started: "), std::string::npos);
  });
  ASSERT_EQ(trial.witness.texts("root-away").size(), 1U);
  EXPECT_TRUE(trial.witness.texts("root-away")
                  .front()
                  .starts_with("the root does not answer; trying for 2m: "));
  EXPECT_EQ(trial.bucket().object_count(), 0U);
}

TEST(AttemptTrouble, ARootThatComesBackInTimeIsUsed) {
  Trial trial;
  trial.is_away = true;
  trial.on_machine([&](sys::World& world) {
    const auto helper = world.threads.spawn("repair", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(minutes(1), {});
      trial.is_away = false;
    });
    const auto begun = trial.begin(world);
    EXPECT_TRUE(begun) << begun.error().to_string();
  });
  EXPECT_EQ(trial.witness.texts("root-away").size(), 1U);
}

}  // namespace
}  // namespace outlast::agent
