#include "checkpoint/commit_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/layout.h"
#include "checkpoint/testing/log_rig.h"
#include "job/log_entry.h"
#include "store/around_store.h"
#include "store/faulty_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::checkpoint {
namespace {
namespace commit_log_test {

using job::EntryKind;
using job::LogEntry;
using job::Seq;
using std::chrono::milliseconds;
using store::Fault;
using store::StoreCallKind;
using store::testing::in_simulation;
using testing::checkpoint_draft;
using testing::entry_at;
using testing::LogRig;

const Fault kFine = {};
const Fault kAnswerLost = {.kind = Fault::Kind::kAnswerLost};
const Fault kLate = {.kind = Fault::Kind::kLate, .late_by = milliseconds(10)};
const Fault kSlow = {.delay_before = milliseconds(20)};
const Fault kRefused = {.kind = Fault::Kind::kRefused};

template <typename T>
ErrorCode code_of(const Result<T>& result) {
  return result ? ErrorCode::kFailed : result.error().code();
}

TEST(CommitLog, BeginsWithAFence) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    EXPECT_TRUE(log.history().empty());
    EXPECT_EQ(code_of(log.append(checkpoint_draft(), {}, {})), ErrorCode::kNotFound);
    EXPECT_EQ(log.take_over("start", {}).value_or(0), 1U);
    EXPECT_EQ(log.epoch(), 1U);
    EXPECT_EQ(log.append(checkpoint_draft("first"), {}, {}).value_or(0), 2U);
    EXPECT_EQ(log.append(checkpoint_draft("second"), {}, {}).value_or(0), 3U);
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{2, 3}));
    const CommitLog reader = rig.open();
    ASSERT_NE(reader.history().find(3), nullptr);
    EXPECT_EQ(*reader.history().find(3), *log.history().find(3));
    EXPECT_EQ(reader.history().find(3)->writer, "m1/1");
    EXPECT_EQ(reader.history().find(3)->floor, 1U);
    EXPECT_EQ(reader.epoch(), 0U);
  });
}

TEST(CommitLog, AnAttemptThatLostItsTurnIsToldByWhomAndStops) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog zombie = rig.open("zombie/1");
    ASSERT_TRUE(zombie.take_over("start", {}));
    ASSERT_TRUE(zombie.append(checkpoint_draft(), {}, {}));
    CommitLog heir = rig.open("heir/2");
    EXPECT_EQ(heir.take_over("the beat stopped", {}).value_or(0), 2U);
    ASSERT_TRUE(heir.append(checkpoint_draft(), {}, {}));

    const auto refused = zombie.append(checkpoint_draft(), {}, {});
    EXPECT_EQ(code_of(refused), ErrorCode::kPreempted);
    EXPECT_EQ(refused.error().to_string(),
              "this attempt has lost its turn: heir/2 took the job over with epoch 2 at " +
                  format_rfc3339(zombie.history().find(3)->time) +
                  " (entry 3 of the commit log), and nothing of epoch 1 counts any more; this "
                  "attempt must stop");
    const auto before = rig.metered.usage();
    EXPECT_EQ(code_of(zombie.append(checkpoint_draft(), {}, {})), ErrorCode::kPreempted);
    EXPECT_EQ(rig.metered.usage(), before);  // it need not ask again
    EXPECT_EQ(rig.bucket.object_count(), 4U);
    // It can begin again, as another attempt.
    EXPECT_EQ(zombie.take_over("again", {}).value_or(0), 3U);
    EXPECT_EQ(zombie.append(checkpoint_draft(), {}, {}).value_or(0), 6U);
    EXPECT_EQ(code_of(heir.append(checkpoint_draft(), {}, {})), ErrorCode::kPreempted);
  });
}

TEST(CommitLog, RefreshTellsOfASuccessorToo) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog first = rig.open();
    ASSERT_TRUE(first.take_over("start", {}));
    CommitLog second = rig.open();
    ASSERT_TRUE(second.take_over("start", {}));
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(second.append(checkpoint_draft(), {}, {}));
    ASSERT_TRUE(first.refresh({}));
    EXPECT_EQ(first.history().next(), 53U);
    EXPECT_EQ(first.history().highest(), 2U);
    const auto before = rig.metered.usage();
    EXPECT_EQ(code_of(first.append(checkpoint_draft(), {}, {})), ErrorCode::kPreempted);
    ASSERT_TRUE(second.refresh({}));
    EXPECT_EQ((rig.metered.usage() - before).calls_of(StoreCallKind::kGet), 1U);  // nothing is new
  });
}

struct LostAnswer {
  std::string what = {};
  std::vector<Fault> faults = {};  // of the put, of the read, of the put again, …
};

TEST(CommitLog, AnEntryIsAddedOnceWhateverHappensToTheAnswer) {
  const std::vector<LostAnswer> cases = {
      {"its answer is lost", {kAnswerLost}},
      {"twice", {kLate, kFine, kAnswerLost}},
      {"it comes before it is looked for", {kLate, kSlow}},
      {"it comes after it is looked for and before it is repeated", {kLate, kFine, kSlow}},
      {"it comes after it was repeated", {kLate, kFine}},
      {"three come late", {kLate, kFine, kLate, kFine, kLate, kFine, kSlow}}};
  for (const LostAnswer& one : cases) {
    in_simulation(1, [&](sys::World& world) {
      LogRig rig(world);
      CommitLog log = rig.open();
      rig.faults.assign(one.faults.begin(), one.faults.end());
      EXPECT_EQ(log.take_over("start", {}).value_or(0), 1U) << one.what;
      rig.faults.assign(one.faults.begin(), one.faults.end());
      EXPECT_EQ(log.append(checkpoint_draft("mine"), {}, {}).value_or(0), 2U) << one.what;
      EXPECT_EQ(log.append(checkpoint_draft("next"), {}, {}).value_or(0), 3U) << one.what;
      rig.late.settle(kNever);
      EXPECT_EQ(rig.bucket.object_count(), 3U) << one.what;
      EXPECT_EQ(rig.why_at(2), "mine") << one.what;
    });
  }
}

TEST(CommitLog, APlaceThatWentToAnotherInTheMeantimeIsLeft) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    ASSERT_TRUE(log.take_over("start", {}));
    CommitLog upkeep = rig.open("upkeep");
    ASSERT_TRUE(upkeep.append(checkpoint_draft("theirs"), {}, {}));
    rig.faults = {kLate};
    EXPECT_EQ(log.append(checkpoint_draft("mine"), {}, {}).value_or(0), 3U);
    rig.late.settle(kNever);
    EXPECT_EQ(rig.why_at(2), "theirs");
    EXPECT_EQ(rig.why_at(3), "mine");
    EXPECT_EQ(rig.bucket.object_count(), 3U);
  });
}

TEST(CommitLog, GoesOnAfterAnErrorWithoutHavingBelievedAnything) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    ASSERT_TRUE(log.take_over("start", {}));
    rig.faults = {kRefused};
    EXPECT_EQ(code_of(log.append(checkpoint_draft("refused"), {}, {})), ErrorCode::kUnavailable);
    EXPECT_EQ(log.append(checkpoint_draft("a"), {}, {}).value_or(0), 2U);
    // Written, but neither the answer nor a look at it came.
    rig.faults = {kAnswerLost, kRefused};
    EXPECT_EQ(code_of(log.append(checkpoint_draft("doubtful"), {}, {})), ErrorCode::kUnavailable);
    std::vector<std::string> shown;
    const auto watch = [&](const LogEntry& entry) -> Result<void> {
      shown.push_back(entry.why);
      return {};
    };
    EXPECT_EQ(log.append(checkpoint_draft("b"), watch, {}).value_or(0), 4U);
    EXPECT_EQ(shown, (std::vector<std::string>{"doubtful"}));
    // The same, but it comes when the place is taken.
    rig.faults = {kLate, kRefused};
    EXPECT_EQ(code_of(log.append(checkpoint_draft("late"), {}, {})), ErrorCode::kUnavailable);
    EXPECT_EQ(log.append(checkpoint_draft("c"), {}, {}).value_or(0), 5U);
    rig.late.settle(kNever);
    EXPECT_EQ(rig.why_at(5), "c");
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{2, 3, 4, 5}));
  });
}

TEST(CommitLog, AStoreThatNeverKnowsIsGivenUpOn) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    for (int i = 0; i < 100; ++i) {
      rig.faults.push_back({.kind = Fault::Kind::kLate, .late_by = std::chrono::hours(1)});
      rig.faults.push_back(kFine);
    }
    EXPECT_EQ(code_of(log.take_over("start", {})), ErrorCode::kUnknownOutcome);
    EXPECT_EQ(log.epoch(), 0U);
  });
}

TEST(CommitLog, AFenceIsAboveWhateverCameInBetween) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog slow = rig.open("slow");
    for (job::Epoch epoch = 1; epoch <= 5; ++epoch) {
      CommitLog other = rig.open("other");
      EXPECT_EQ(other.take_over("start", {}).value_or(0), epoch);
      ASSERT_TRUE(other.append(checkpoint_draft(), {}, {}));
    }
    EXPECT_EQ(slow.take_over("start", {}).value_or(0), 6U);
    EXPECT_EQ(slow.history().next(), 12U);
  });
}

// Our own fence, of which we never heard, is one like any other.
TEST(CommitLog, ALateFenceOfOnesOwnIsFollowedByAnother) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    rig.faults = {kLate, kRefused, kSlow};
    EXPECT_EQ(code_of(log.take_over("first", {})), ErrorCode::kUnavailable);
    EXPECT_EQ(log.take_over("second", {}).value_or(0), 2U);
    EXPECT_EQ(rig.why_at(1), "first");
    EXPECT_EQ(log.append(checkpoint_draft(), {}, {}).value_or(0), 3U);
  });
}

TEST(CommitLog, AnObjectionEndsIt) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    ASSERT_TRUE(log.take_over("start", {}));
    CommitLog upkeep = rig.open("upkeep");
    ASSERT_TRUE(upkeep.append(checkpoint_draft("fine"), {}, {}));
    ASSERT_TRUE(upkeep.append({.kind = EntryKind::kPrune, .why = "prune"}, {}, {}));
    std::vector<std::string> shown;
    const auto object = [&](const LogEntry& theirs) -> Result<void> {
      shown.push_back(theirs.why);
      if (theirs.kind != EntryKind::kPrune) return {};
      return Error(ErrorCode::kConditionFailed, "what we rely on may be removed");
    };
    EXPECT_EQ(code_of(log.append(checkpoint_draft("mine"), object, {})),
              ErrorCode::kConditionFailed);
    EXPECT_EQ(shown, (std::vector<std::string>{"fine", "prune"}));
    EXPECT_EQ(rig.bucket.object_count(), 3U);
    EXPECT_EQ(log.append(checkpoint_draft("mine"), object, {}).value_or(0), 4U);
    EXPECT_EQ(shown.size(), 2U);  // each once
  });
}

TEST(CommitLog, UpkeepWritesWithTheEpochOfTheDay) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog upkeep = rig.open("upkeep");
    CommitLog attempt = rig.open();
    ASSERT_TRUE(attempt.take_over("start", {}));
    ASSERT_TRUE(attempt.append(checkpoint_draft(), {}, {}));
    // Opened when the log was empty.
    EXPECT_EQ(upkeep.append({.kind = EntryKind::kPin, .target = 2}, {}, {}).value_or(0), 3U);
    CommitLog heir = rig.open();
    ASSERT_TRUE(heir.take_over("start", {}));
    EXPECT_EQ(upkeep.append({.kind = EntryKind::kUnpin, .target = 2}, {}, {}).value_or(0), 5U);
    EXPECT_EQ(upkeep.history().find(5)->epoch, 2U);
    EXPECT_TRUE(upkeep.history().counts(5));
    EXPECT_EQ(heir.append(checkpoint_draft(), {}, {}).value_or(0), 6U);
  });
}

TEST(CommitLog, WhatCannotBeWrittenIsSaidBeforeAnythingIs) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    ASSERT_TRUE(log.take_over("start", {}));
    LogEntry draft = checkpoint_draft();
    draft.checkpoint.metrics["loss"] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(code_of(log.append(draft, {}, {})), ErrorCode::kInvalidArgument);
    draft = checkpoint_draft();
    draft.checkpoint.manifests.clear();
    EXPECT_EQ(code_of(log.append(draft, {}, {})), ErrorCode::kInvalidArgument);
    EXPECT_EQ(rig.bucket.object_count(), 1U);
    const sys::CallContext late{.deadline = world.clock.mono_now()};
    EXPECT_EQ(code_of(log.append(checkpoint_draft(), {}, late)), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(log.append(checkpoint_draft(), {}, {}).value_or(0), 2U);
  });
}

}  // namespace commit_log_test
}  // namespace
}  // namespace outlast::checkpoint
