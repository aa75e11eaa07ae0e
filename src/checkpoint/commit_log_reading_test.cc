// What a commit log finds when it is opened: long, damaged, mixed with other things.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "checkpoint/testing/log_rig.h"
#include "job/log_entry.h"
#include "store/around_store.h"
#include "store/metered_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::checkpoint {
namespace {
namespace commit_log_reading_test {

using job::EntryKind;
using job::LogEntry;
using job::Seq;
using store::StoreCallKind;
using store::testing::in_simulation;
using testing::checkpoint_draft;
using testing::entry_at;
using testing::LogRig;

struct Calls {
  std::uint64_t lists = 0;
  std::uint64_t gets = 0;

  friend bool operator==(const Calls&, const Calls&) = default;
};
std::ostream& operator<<(std::ostream& out, const Calls& calls) {
  return out << calls.lists << " lists, " << calls.gets << " gets";
}
Calls calls_of(const store::StoreUsage& usage) {
  return {.lists = usage.calls_of(StoreCallKind::kList),
          .gets = usage.calls_of(StoreCallKind::kGet)};
}

// A fence and then checkpoints; only the last few have a text, since nobody must look at more.
void fill(LogRig& rig, Seq count, Seq readable) {
  for (Seq seq = 1; seq + readable <= count; ++seq) rig.put(entry_key(seq), "");
  for (Seq seq = count - readable + 1; seq <= count; ++seq) {
    const bool first = seq == 1;
    rig.put(entry_at(seq, 1, first ? 0 : 1, first ? EntryKind::kFence : EntryKind::kCheckpoint));
  }
}

TEST(CommitLogOpening, TakesAHandfulOfRequestsHoweverLongTheLogIs) {
  constexpr Seq kLength = 100'000;
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, kLength, 100);
    {
      const CommitLog log = rig.open();
      EXPECT_EQ(log.history().next(), kLength + 1);
      EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{kLength}));
      EXPECT_EQ(calls_of(rig.metered.usage()), (Calls{.lists = 1, .gets = 1}));
    }
    rig.put(entry_at(kLength + 1, 2, 1, EntryKind::kFence));
    auto before = rig.metered.usage();
    CommitLog log = rig.open();
    EXPECT_EQ(log.history().highest(), 2U);
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{kLength - 1, kLength}));
    EXPECT_EQ(calls_of(rig.metered.usage() - before), (Calls{.lists = 1, .gets = 3}));

    before = rig.metered.usage();
    EXPECT_EQ(log.take_over("start", {}).value_or(0), 3U);
    EXPECT_EQ(log.append(checkpoint_draft(), {}, {}).value_or(0), kLength + 3);
    EXPECT_EQ(calls_of(rig.metered.usage() - before), (Calls{}));
    EXPECT_EQ((rig.metered.usage() - before).calls_of(StoreCallKind::kPut), 2U);
    EXPECT_TRUE(log.read_older({}).value_or(false));
    EXPECT_EQ((rig.metered.usage() - before).calls_of(StoreCallKind::kGet), 4U);
  });
}

TEST(CommitLogOpening, StopsAtAPruneAndReadsWhatItKept) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, 1'000, 1'000);
    LogEntry prune = entry_at(1'001, 1, 1, EntryKind::kPrune);
    prune.prune = {.kept = {10, 100, 200, 300, 400, 500, 600, 999}, .pinned = {10}};
    rig.put(prune);
    CommitLog log = rig.open();
    EXPECT_TRUE(log.history().is_complete());
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{600, 999}));
    EXPECT_EQ(calls_of(rig.metered.usage()), (Calls{.lists = 1, .gets = 3}));
    EXPECT_TRUE(log.read_older({}).value_or(false));
    EXPECT_EQ(log.history().restorable().size(), 6U);
    ASSERT_TRUE(log.read_all({}));
    EXPECT_EQ(log.history().restorable(), prune.prune.kept);
    EXPECT_EQ(log.history().pinned(), (std::set<Seq>{10}));
    EXPECT_EQ(calls_of(rig.metered.usage()), (Calls{.lists = 1, .gets = 9}));
    EXPECT_FALSE(log.read_older({}).value_or(true));
    EXPECT_EQ(calls_of(rig.metered.usage()), (Calls{.lists = 1, .gets = 9}));
  });
}

TEST(CommitLogOpening, ReadsAllOfALogWithoutAPrune) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, 500, 500);
    CommitLog log = rig.open();
    ASSERT_TRUE(log.read_all({}));
    EXPECT_EQ(log.history().oldest(), 1U);
    EXPECT_EQ(log.history().restorable().size(), 499U);
    EXPECT_EQ(calls_of(rig.metered.usage()), (Calls{.lists = 1, .gets = 500}));
  });
}

TEST(CommitLogOpening, KnowsTheEndingHoweverLongAgoItWas) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    ASSERT_TRUE(log.take_over("start", {}));
    ASSERT_TRUE(log.append({.kind = EntryKind::kCancelled, .why = "asked"}, {}, {}));
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(log.append(checkpoint_draft(), {}, {}));
    const CommitLog reader = rig.open();
    EXPECT_GT(reader.history().oldest(), 2U);
    ASSERT_NE(reader.history().ending(), nullptr);
    EXPECT_EQ(reader.history().ending()->kind, EntryKind::kCancelled);
    CommitLog heir = rig.open();
    ASSERT_TRUE(heir.take_over("once more", {}));
    EXPECT_EQ(rig.open().history().ended(), 0U);
  });
}

TEST(CommitLogDamage, IsReportedAndTheOneBeforeIsFound) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, 5, 5);
    rig.damage(5);
    rig.remove(4);
    const CommitLog log = rig.open();
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{3}));
    const std::map<Seq, Error>& damaged = log.history().damaged();
    ASSERT_EQ(damaged.size(), 2U);
    EXPECT_EQ(damaged.at(5).to_string(),
              "entry 5 of the commit log cannot be read: its checksum does not fit");
    EXPECT_EQ(damaged.at(4).to_string(),
              "entry 4 of the commit log is missing: something has removed "
              "commits/999999999995-4.json");
  });
}

TEST(CommitLogDamage, NothingButAFenceGoesPastIt) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog running = rig.open("running");
    ASSERT_TRUE(running.take_over("start", {}));
    CommitLog heir = rig.open("heir");
    ASSERT_TRUE(heir.take_over("start", {}));
    rig.damage(2);
    // What was a fence cannot be told from anything else.
    for (int i = 0; i < 2; ++i) {
      const auto refused = running.append(checkpoint_draft(), {}, {});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code(), ErrorCode::kCorrupt);
      EXPECT_EQ(refused.error().to_string(),
                "nothing can be added to the commit log before somebody takes the job over, "
                "because its newest entry may say that somebody has: entry 2 of the commit log "
                "cannot be read: its checksum does not fit");
    }
    CommitLog upkeep = rig.open("upkeep");
    EXPECT_FALSE(upkeep.append({.kind = EntryKind::kPin, .target = 1}, {}, {}));
    EXPECT_EQ(rig.bucket.object_count(), 2U);

    // Above the epoch that the damaged fence had, so that its attempt is told.
    CommitLog third = rig.open("third");
    EXPECT_EQ(third.take_over("start", {}).value_or(0), 3U);
    const auto preempted = heir.append(checkpoint_draft(), {}, {});
    ASSERT_FALSE(preempted);
    EXPECT_EQ(preempted.error().code(), ErrorCode::kPreempted);
    EXPECT_EQ(third.append(checkpoint_draft(), {}, {}).value_or(0), 4U);
    EXPECT_EQ(upkeep.append({.kind = EntryKind::kPin, .target = 4}, {}, {}).error().code(),
              ErrorCode::kCorrupt);
    ASSERT_TRUE(upkeep.refresh({}));
    EXPECT_TRUE(upkeep.append({.kind = EntryKind::kPin, .target = 4}, {}, {}));
  });
}

TEST(CommitLogDamage, IfAllIsDamagedAFenceBeginsAnew) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, 6, 6);
    for (Seq seq = 1; seq <= 6; ++seq) rig.damage(seq);
    CommitLog log = rig.open();
    EXPECT_TRUE(log.history().restorable().empty());
    EXPECT_EQ(log.take_over("start", {}).value_or(0), 7U);
    EXPECT_EQ(log.append(checkpoint_draft(), {}, {}).value_or(0), 8U);
  });
}

TEST(CommitLogDamage, KeptCheckpointsThatAreGoneAreReported) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, 20, 20);
    LogEntry prune = entry_at(21, 1, 1, EntryKind::kPrune);
    prune.prune.kept = {1, 5, 8, 12};  // 1 is a fence
    rig.put(prune);
    rig.damage(12);
    rig.remove(8);
    CommitLog log = rig.open();
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{5}));
    ASSERT_TRUE(log.read_all({}));
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{5}));
    EXPECT_EQ(log.history().damaged().size(), 3U);
  });
}

TEST(CommitLogOpening, WhatIsNoEntryIsPassedOver) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, 3, 3);
    // Enough to fill more than a page before the newest entry.
    for (int i = 1'000; i < 2'500; ++i) rig.put("commits/!" + std::to_string(i), "hello");
    rig.put("commits/999999999997-3.json", "hello");  // of place 3, and misnamed
    rig.put("commits/x/999999999990-9.json", "hello");
    rig.put("manifests/1", "hello");
    const CommitLog log = rig.open();
    EXPECT_EQ(log.history().next(), 4U);
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{3}));
  });
}

// Somebody copied an object here, or made one up.
TEST(CommitLogOpening, AnEntryFarAheadIsNamed) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, 3, 3);
    rig.put(entry_key(job::kSeqMax), "made up");
    const auto log = rig.try_open();
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code(), ErrorCode::kCorrupt);
    EXPECT_EQ(log.error().to_string(),
              "1000 entries of the commit log before entry 999999999999 are missing: either "
              "something removes them, which the bucket's rules would show, or "
              "commits/000000000000-999999999999.json is not of this job and must be removed");
  });
}

TEST(CommitLogOpening, ANewerFormatIsRefused) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    CommitLog log = rig.open();
    ASSERT_TRUE(log.take_over("start", {}));
    const std::string rest = R"({"format":2)";
    rig.put(entry_key(2),
            rest + R"(,"sum":")" + sha256(as_bytes(rest + "}")).hex().substr(0, 32) + "\"}");
    EXPECT_EQ(rig.try_open().error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(log.append(checkpoint_draft(), {}, {}).error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(log.take_over("again", {}).error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(rig.bucket.object_count(), 2U);
  });
}

TEST(CommitLogOpening, AHugeObjectIsNotReadIntoMemory) {
  in_simulation(1, [](sys::World& world) {
    LogRig rig(world);
    fill(rig, 2, 2);
    rig.put(entry_key(3), std::string(job::kEntryBytesMax + 1, '7'));
    const CommitLog log = rig.open();
    EXPECT_EQ(log.history().restorable(), (std::vector<Seq>{2}));
    EXPECT_TRUE(log.history().ends_damaged());
  });
}

}  // namespace commit_log_reading_test
}  // namespace
}  // namespace outlast::checkpoint
