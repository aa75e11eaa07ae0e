// The protocol of an arena's slots, in every order that a writer and a reader can meet in.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/slots/explore.h"
#include "tests/slots/programs.h"

namespace outlast::sdk::slots {
namespace {

std::vector<World> all_worlds(Value crashes) {
  std::vector<World> worlds;
  for (const Memory memory : {Memory::kInOrder, Memory::kBuffered}) {
    for (const std::uint64_t slots : {1U, 2U, 3U}) {
      World world;
      world.slots = slots;
      world.memory = memory;
      world.attempts = 4;  // below that, nobody overwrites the newest after a crash
      world.crashes = crashes;
      worlds.push_back(world);
    }
  }
  return worlds;
}

// How the calls ended, so that nothing is promised about what never came.
bool has(const Explored& explored, Ended ended) {
  return explored.ended.contains(ended);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

TEST(Slots, NothingIsBrokenInAnyOrder) {
  for (const World& world : all_worlds(0)) {
    SCOPED_TRACE(world.slots);
    const Explored explored = explore(world);
    EXPECT_EQ(explored.broken, "");
    EXPECT_FALSE(explored.was_overwritten);
    for (const Ended ended : {Ended::kBegan, Ended::kSawNone, Ended::kWasLate, Ended::kAccepted}) {
      EXPECT_TRUE(has(explored, ended)) << static_cast<int>(ended);
    }
  }
}

TEST(Slots, NothingIsBrokenWhereverWritersCrash) {
  for (const World& world : all_worlds(1)) {
    SCOPED_TRACE(world.slots);
    const Explored explored = explore(world);
    EXPECT_EQ(explored.broken, "");
    EXPECT_TRUE(has(explored, Ended::kAccepted));
  }
}

TEST(Slots, TheNewestSnapshotOutlivesEveryCrashIfNobodyReads) {
  for (const Memory memory : {Memory::kInOrder, Memory::kBuffered}) {
    World world;
    world.memory = memory;
    world.attempts = 5;
    world.crashes = 4;
    world.reads = false;
    const Explored explored = explore(world);
    EXPECT_EQ(explored.broken, "");
    EXPECT_FALSE(has(explored, Ended::kGaveUp));
  }
}

// Two slots: only while the reader goes from one to the other within one call. explore() has shown
// that the next call finds a slot, wherever the reader is then. Three slots: it cannot be
// everywhere.
TEST(Slots, AWriterMayHaveToTryAgainWithTwoSlotsAndNeverWithThree) {
  World world;
  world.attempts = 4;
  EXPECT_TRUE(has(explore(world), Ended::kGaveUp));
  world.slots = 3;
  EXPECT_FALSE(has(explore(world), Ended::kGaveUp));
}

// A writer that puts its number back may make a reader that is quick doubt a good read; never more.
TEST(Slots, AGoodReadMayBeRejected) {
  const Explored explored = explore({});
  EXPECT_TRUE(has(explored, Ended::kRejected));
  EXPECT_FALSE(explored.was_overwritten);
}

TEST(Slots, TheSecondLookOfTheReaderIsEnoughForAWriterWithoutFences) {
  World world;
  world.memory = Memory::kBuffered;
  world.crashes = 1;
  world.writer.no_fences = true;
  const Explored explored = explore(world);
  EXPECT_EQ(explored.broken, "");
  EXPECT_TRUE(explored.was_overwritten);
}

// --- What is found if something is wrong ---

TEST(SlotFaults, WithoutFencesOnBothSidesASlotIsOverwrittenUnderItsReader) {
  World world;
  world.memory = Memory::kBuffered;
  world.writer.no_fences = true;
  world.reader.no_fences = true;
  EXPECT_TRUE(explore(world).was_overwritten);
}

TEST(SlotFaults, AFenceOnOneSideIsNotEnough) {
  for (const bool of_writer : {false, true}) {
    World world;
    world.memory = Memory::kBuffered;
    (of_writer ? world.writer : world.reader).no_fences = true;
    EXPECT_TRUE(explore(world).was_overwritten) << of_writer;
  }
}

TEST(SlotFaults, AWriterThatDoesNotLookTwiceOverwritesWhatIsRead) {
  World world;
  world.writer.no_second_look = true;
  const Explored explored = explore(world);
  EXPECT_TRUE(explored.was_overwritten);
  EXPECT_EQ(explored.broken, "");
}

TEST(SlotFaults, AReaderThatBelievesAnythingReadsWhatAWriterWithoutFencesOverwrites) {
  World world;
  world.memory = Memory::kBuffered;
  world.writer.no_fences = true;
  world.reader.believes_anything = true;
  EXPECT_EQ(first_line(explore(world).broken), "a wrong read was accepted");
}

// The same reader is right as long as all keep the rules and nobody crashes.
TEST(SlotFaults, AReaderThatBelievesAnythingIsWrongAfterACrashOnly) {
  World world;
  world.attempts = 4;
  world.reader.believes_anything = true;
  EXPECT_EQ(explore(world).broken, "");
  world.crashes = 1;
  EXPECT_EQ(first_line(explore(world).broken), "a wrong read was accepted");
}

TEST(SlotFaults, ASlotThatIsDoneBeforeItsDataIsFound) {
  World world;
  world.writer.done_before_data = true;
  EXPECT_EQ(first_line(explore(world).broken), "a slot says that it is whole and is not");
}

TEST(SlotFaults, AWriterThatUsesOneSlotOnlyLeavesNothingWhole) {
  World world;
  world.writer.one_slot = true;
  world.reads = false;
  EXPECT_EQ(first_line(explore(world).broken), "no slot is whole");
}

TEST(SlotFaults, AWriterThatCountsFromOneAgainIsFound) {
  World world;
  world.writer.forgets_numbers = true;
  EXPECT_EQ(first_line(explore(world).broken), "a number that does not grow");
}

TEST(SlotFaults, AWriterThatWaitsForTheReaderIsFound) {
  World world;
  world.writer.waits_for_reader = true;
  EXPECT_EQ(first_line(explore(world).broken),
            "the writer finds no slot though the reader stands still");
}

}  // namespace
}  // namespace outlast::sdk::slots
