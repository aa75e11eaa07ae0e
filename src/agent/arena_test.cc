#include "agent/arena.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "sdk/arena.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

void on_some_machine(const std::function<void(sys::World&)>& body) {
  sim::Simulation simulation(sim::KernelOptions{.seed = 7});
  sim::Machine& machine = simulation.add_machine("m1");
  const sim::Outcome outcome = simulation.run([&] { machine.boot(body, {}); });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

std::shared_ptr<Arena> make_arena(sys::World& world, std::uint64_t slots = 2) {
  return Arena::make(world.shared_memories, slots, 100).value();
}

// As a trainer does. Returns the slot.
std::uint64_t write_step(Arena& arena, std::uint64_t step, std::uint64_t answers = 0,
                         std::uint64_t length = 10) {
  sdk::ArenaWords words = arena.words();
  const auto writing = sdk::begin_writing(words, arena.slots());
  if (!writing) return 99;
  arena.slot(writing->slot)[0] = static_cast<std::byte>(step);
  sdk::end_writing(words, *writing, step, length, answers);
  return writing->slot;
}

TEST(Arena, HasSlotsOfWholePages) {
  on_some_machine([](sys::World& world) {
    const auto arena = Arena::make(world.shared_memories, 2, 5000);
    ASSERT_TRUE(arena);
    EXPECT_EQ((*arena)->slot_bytes(), 8192U);
    EXPECT_EQ((*arena)->words().load(sdk::kMagic), sdk::kArenaMagic);
    EXPECT_EQ((*arena)->words().load(sdk::kSlotBytes), 8192U);
    EXPECT_EQ((*arena)->memory()->bytes().size(), sdk::arena_bytes(2, 8192));
    EXPECT_TRUE((*arena)->whole().empty());
  });
}

TEST(Arena, TellsWhatIsWholeNewestFirst) {
  on_some_machine([](sys::World& world) {
    const auto arena = make_arena(world);
    write_step(*arena, 1);
    write_step(*arena, 2);
    ASSERT_EQ(arena->whole().size(), 2U);
    EXPECT_EQ(arena->whole().front().step, 2U);
    EXPECT_EQ(arena->bytes_of(arena->whole().front())[0], std::byte{2});
    // One that is being written is none; nor is one that says that it is longer than its slot.
    sdk::ArenaWords words = arena->words();
    ASSERT_TRUE(sdk::begin_writing(words, 2));
    ASSERT_EQ(arena->whole().size(), 1U);
    write_step(*arena, 3, 0, 1U << 20U);
    ASSERT_EQ(arena->whole().size(), 1U);
    EXPECT_EQ(arena->whole().front().step, 2U);
  });
}

TEST(Arena, WhatIsNotKeptIsGoneAndItsNumberIsNotUsedAgain) {
  on_some_machine([](sys::World& world) {
    const auto arena = make_arena(world);
    write_step(*arena, 1);
    const std::uint64_t newest = write_step(*arena, 2);
    arena->keep_only(1 - newest);
    ASSERT_EQ(arena->whole().size(), 1U);
    EXPECT_EQ(arena->whole().front().step, 1U);
    write_step(*arena, 3);
    EXPECT_EQ(arena->whole().front().number, 3U);
    arena->keep_only(std::nullopt);
    EXPECT_TRUE(arena->whole().empty());
  });
}

TEST(JobSnapshot, IsTheNewestStepThatAllRanksHave) {
  on_some_machine([](sys::World& world) {
    std::vector<std::shared_ptr<Arena>> arenas = {make_arena(world), make_arena(world)};
    EXPECT_FALSE(newest_of_all({}));
    EXPECT_FALSE(newest_of_all(arenas));
    write_step(*arenas[0], 4, 2);
    EXPECT_FALSE(newest_of_all(arenas));
    write_step(*arenas[1], 4, 4);
    write_step(*arenas[0], 8, 4);
    const std::optional<JobSnapshot> first = newest_of_all(arenas);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->step, 4U);
    EXPECT_EQ(first->bytes(), 20U);
    EXPECT_EQ(first->answers(), 2U);
    write_step(*arenas[1], 8, 4);
    const std::optional<JobSnapshot> second = newest_of_all(arenas);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->step, 8U);
    EXPECT_EQ(second->answers(), 4U);
    EXPECT_NE(second->fingerprint(), first->fingerprint());
    arenas.push_back(nullptr);
    EXPECT_FALSE(newest_of_all(arenas));
  });
}

TEST(SnapshotReading, KeepsWritersAwayWhileItLasts) {
  on_some_machine([](sys::World& world) {
    const std::vector<std::shared_ptr<Arena>> arenas = {make_arena(world, 1)};
    write_step(*arenas[0], 1);
    sdk::ArenaWords words = arenas[0]->words();
    {
      const auto reading = SnapshotReading::begin(*newest_of_all(arenas));
      ASSERT_TRUE(reading);
      EXPECT_FALSE(sdk::begin_writing(words, 1));
      EXPECT_TRUE(reading->is_still_whole());
    }
    EXPECT_TRUE(sdk::begin_writing(words, 1));
  });
}

TEST(SnapshotReading, FindsOutWhoWritesAllTheSame) {
  on_some_machine([](sys::World& world) {
    const std::vector<std::shared_ptr<Arena>> arenas = {make_arena(world), make_arena(world)};
    for (const auto& arena : arenas) write_step(*arena, 1);
    const JobSnapshot snapshot = *newest_of_all(arenas);
    const auto reading = SnapshotReading::begin(snapshot);
    ASSERT_TRUE(reading);
    const std::size_t begun = sdk::slot_word(snapshot.parts[1].snapshot.slot, sdk::kBegun);
    arenas[1]->words().store(begun, 7);
    EXPECT_FALSE(reading->is_still_whole());
    // And who comes later reads nothing at all, of no rank.
    EXPECT_FALSE(SnapshotReading::begin(snapshot));
    EXPECT_EQ(arenas[0]->words().load(sdk::kReading), 0U);
  });
}

}  // namespace
}  // namespace outlast::agent
