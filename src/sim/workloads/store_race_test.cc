// What the races rely on, pinned down one lost answer at a time: seeds move when the kernel
// changes, these do not.
#include "sim/workloads/store_race.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

using std::chrono::milliseconds;
using store::Fault;

const Fault kFine = {};
const Fault kAnswerLost = {.kind = Fault::Kind::kAnswerLost};
const Fault kLate = {.kind = Fault::Kind::kLate, .late_by = milliseconds(10)};
const Fault kSlow = {.delay_before = milliseconds(20)};

struct RaceRig {
  RaceRig(sys::World& world, std::vector<Fault> faults)
      : memory(bucket, world.clock),
        late(memory),
        store(memory, world.clock, store::scripted_faults(std::move(faults)), &late) {}

  std::string at(std::uint64_t place) {
    const auto found = bucket.find(RaceLog::key_of(place), {});
    return found ? std::string(as_text(*found->bytes)) : "(none)";
  }
  RaceCounter::Counts counts() {
    const auto found = bucket.find(RaceCounter::key(), {});
    return RaceCounter::parse(found ? std::string(as_text(*found->bytes)) : "");
  }

  store::MemoryBucket bucket;
  store::MemoryStore memory;
  store::LateWrites late;
  store::FaultyStore store;
};

TEST(RaceLog, GivesEachEntryThePlaceAfterTheLast) {
  store::testing::in_simulation(1, [](sys::World& world) {
    RaceRig rig(world, {});
    RaceLog first(rig.store, InDoubt::kReadBack);
    for (std::uint64_t i = 1; i <= 9; ++i) {
      EXPECT_EQ(first.append("entry " + std::to_string(i), {}).value_or(0), i);
    }
    RaceLog second(rig.store, InDoubt::kReadBack);
    ASSERT_TRUE(second.find_end({}));
    EXPECT_EQ(second.append("ten", {}).value_or(0), 10U);
    EXPECT_EQ(first.append("eleven", {}).value_or(0), 11U);
    RaceLog third(rig.store, InDoubt::kReadBack);
    EXPECT_EQ(third.append("twelve", {}).value_or(0), 12U);  // walks
  });
}

TEST(RaceLog, AnEntryWhoseAnswerWasLostIsFound) {
  store::testing::in_simulation(1, [](sys::World& world) {
    RaceRig rig(world, {kAnswerLost});
    RaceLog log(rig.store, InDoubt::kReadBack);
    EXPECT_EQ(log.append("mine", {}).value_or(0), 1U);
    EXPECT_EQ(log.append("next", {}).value_or(0), 2U);
    EXPECT_EQ(rig.at(1), "mine");
  });
}

// The answer is lost, nothing is there, and the write lands before it is repeated: the place is
// then taken by ourselves.
TEST(RaceLog, AnEntryThatCameLateIsNotTakenForSomebodyElses) {
  store::testing::in_simulation(1, [](sys::World& world) {
    RaceRig rig(world, {kLate, kFine, kSlow});
    RaceLog log(rig.store, InDoubt::kReadBack);
    EXPECT_EQ(log.append("mine", {}).value_or(0), 1U);
    EXPECT_EQ(rig.bucket.object_count(), 1U);
    RaceRig forgetful(world, {kLate, kFine, kSlow});
    RaceLog bad(forgetful.store, InDoubt::kForgetItOnce);
    EXPECT_EQ(bad.append("mine", {}).value_or(0), 2U);
    EXPECT_EQ(forgetful.at(1), forgetful.at(2));
  });
}

TEST(RaceLog, APlaceThatWentToAnotherInTheMeantimeIsLeft) {
  store::testing::in_simulation(1, [](sys::World& world) {
    RaceRig rig(world, {kLate});
    ASSERT_TRUE(rig.memory.put(RaceLog::key_of(1), as_bytes("theirs"), {}, {}));
    RaceLog log(rig.store, InDoubt::kReadBack);
    EXPECT_EQ(log.append("mine", {}).value_or(0), 2U);
    rig.late.settle(kNever);
    EXPECT_EQ(rig.at(1), "theirs");
    EXPECT_EQ(rig.at(2), "mine");
  });
}

TEST(RaceCounter, CountsOnceWhateverHappensToTheAnswer) {
  store::testing::in_simulation(1, [](sys::World& world) {
    RaceRig rig(world, {kFine, kAnswerLost, kFine, kFine, kLate, kFine, kSlow});
    RaceCounter mine(rig.store, "me", {});
    EXPECT_EQ(mine.increment({}).value_or(0), 1U);  // get, put whose answer is lost, get
    EXPECT_EQ(mine.increment({}).value_or(0), 2U);  // get, late put, get, put that finds it done
    RaceCounter theirs(rig.store, "you", {});
    EXPECT_EQ(theirs.increment({}).value_or(0), 1U);
    rig.late.settle(kNever);
    EXPECT_EQ(rig.counts(), (RaceCounter::Counts{{"me", 2}, {"you", 1}}));
  });
}

}  // namespace
}  // namespace outlast::sim
