#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/event.h"
#include "agent/root_layout.h"
#include "agent/testing/attempt_trial.h"
#include "base/encoding.h"
#include "base/time.h"
#include "job/notice_plan.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::kSteps;
using testing::kStepTime;
using testing::Trial;

TEST(AttemptNotices, AHintIsAnsweredWithASaveAndTrainingGoesOn) {
  Trial trial;
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kStepTime + seconds(15), {});  // long before the next save is due
    board.post({.source = "news",
                .ends = kNever,
                .confidence = job::NoticeConfidence::kPossible,
                .why = "clouds gather"});
  };
  trial.run();
  EXPECT_EQ(trial.witness.texts("hint"),
            std::vector<std::string>{"this machine may end before long: clouds gather; what comes "
                                     "next is saved at once"});
  EXPECT_TRUE(trial.witness.texts("notice").empty());
  EXPECT_EQ(std::ranges::count_if(trial.witness.events,
                                  [](const Event& event) {
                                    return event.kind == "saved" && event.facts.at("why") == "hint";
                                  }),
            1);
}

TEST(AttemptNotices, WhoTakesTheMachineIsToldWhenEverythingIsSafe) {
  Trial trial;
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kStepTime * 8, {});
    board.post({.source = "news", .ends = world.clock.mono_now() + seconds(30), .why = "a storm"});
  };
  int told = 0;
  trial.released = [&](const notice::Departure& departure) {
    ++told;
    EXPECT_TRUE(departure.is_all_safe);
    EXPECT_EQ(trial.witness.events.back().kind, "left") << "nothing is left to be said";
    const auto record = trial.bucket().find("jobs/demo/" + attempt_key(1), {});
    EXPECT_TRUE(record && decode_attempt(as_text(*record->bytes))->ended) << "nor to be written";
    return "go ahead";
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kLeft) << ending.why;
  EXPECT_EQ(told, 1);
  EXPECT_EQ(trial.witness.texts("released"), std::vector<std::string>{"go ahead"});
}

TEST(AttemptNotices, NobodyIsToldOfAJobThatIsDone) {
  Trial trial;
  trial.news = [](notice::NoticeBoard&, sys::World&) {};
  int told = 0;
  trial.released = [&](const notice::Departure& /*departure*/) {
    ++told;
    return "";
  };
  trial.run();
  EXPECT_EQ(told, 0);
}

TEST(AttemptNotices, ACtrlCIsNoReasonToLetTheMachineGo) {
  Trial trial;
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kStepTime * 8, {});
    board.post({.source = "news", .ends = world.clock.mono_now() + seconds(30), .at_once = true});
  };
  int told = 0;
  trial.released = [&](const notice::Departure& /*departure*/) {
    ++told;
    return "";
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kLeft) << ending.why;
  EXPECT_TRUE(ending.interrupted);
  EXPECT_EQ(told, 0);
}

TEST(AttemptNotices, WhoIsDoneMinutesBeforeTheEndIsDone) {
  Trial trial;
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    board.post({.source = "news",
                .ends = world.clock.mono_now() + kStepTime * kSteps + minutes(5),
                .why = "a time limit"});
  };
  trial.run();
  EXPECT_EQ(trial.witness.texts("notice").size(), 1U);
}

TEST(AttemptNotices, WhoEndsWhenEverybodyWasToldHasLeft) {
  Trial trial;
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    board.post({.source = "news",
                .ends = world.clock.mono_now() + kStepTime * kSteps + minutes(5),
                .reached_trainer = true,
                .why = "a signal to all"});
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kLeft) << ending.why;
}

TEST(AttemptNotices, WhoCouldNotSaveEverythingLeavesAllTheSame) {
  Trial trial;
  trial.after_step = [&](int step) { trial.is_away = step >= 6; };
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kStepTime * 8, {});
    board.post({.source = "news", .ends = world.clock.mono_now() + seconds(30), .why = "a storm"});
  };
  std::vector<bool> told;
  trial.released = [&](const notice::Departure& departure) {
    told.push_back(departure.is_all_safe);
    return "";
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kBroken) << ending.why;
  EXPECT_EQ(told, std::vector<bool>{false}) << "the job is to go on from an older checkpoint";
}

TEST(AttemptNotices, AHintIsNotForgottenWhenItsSaveFails) {
  Trial trial;
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kStepTime + seconds(15), {});
    trial.is_away = true;
    board.post({.source = "news",
                .ends = kNever,
                .confidence = job::NoticeConfidence::kPossible,
                .why = "clouds gather"});
    (void)world.clock.sleep_for(seconds(20), {});
    trial.is_away = false;
  };
  trial.run();
  EXPECT_EQ(trial.witness.texts("save-failed").size(), 1U);
  EXPECT_EQ(std::ranges::count_if(trial.witness.events,
                                  [](const Event& event) {
                                    return event.kind == "saved" && event.facts.at("why") == "hint";
                                  }),
            1);
}

TEST(AttemptNotices, TheTrainersFileAppearsWhenTheEndPresses) {
  Trial trial;
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    board.post(
        {.source = "news", .ends = world.clock.mono_now() + kStepTime * kSteps + minutes(5)});
  };
  std::vector<int> seen;  // the steps after which it was there
  trial.after_step = [&](int step) {
    if (trial.machine().files().stat("/work/.outlast-run/notice.json")) seen.push_back(step);
  };
  trial.run();
  EXPECT_EQ(trial.witness.texts("notice").size(), 1U);
  ASSERT_FALSE(seen.empty());
  EXPECT_GT(seen.front(), kSteps / 2) << "a quarter of an hour is no reason to leave";
  EXPECT_EQ(seen.back(), kSteps);
}

}  // namespace
}  // namespace outlast::agent
