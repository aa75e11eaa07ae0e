#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/arena.h"
#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/event.h"
#include "agent/testing/attempt_trial.h"
#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/loaded_checkpoint.h"
#include "job/spec.h"
#include "notice/notice_board.h"
#include "sdk/arena.h"
#include "sim/sim_process.h"
#include "sim/workloads/snapshot_client.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

using sim::SnapshotClient;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Trial;

constexpr std::uint64_t kLastStep = 20;
constexpr Duration kPace = seconds(10);  // of a step

Bytes wordy_state(std::uint64_t step) {
  std::string text;
  while (text.size() < 3000) text += fmt::format("step {}, ", step);
  const BytesView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

// A trainer with an SDK, of one rank.
class SnapshotTrial : public Trial {
 public:
  SnapshotTrial() {
    machine().processes().install("trainer", [this](sim::SimProcessSelf& self) {
      ++lives;
      return live(self);
    });
  }

  std::vector<std::uint64_t> saved_steps() const {
    std::vector<std::uint64_t> steps;
    for (const Event& event : witness.events) {
      if (event.kind == "saved") steps.push_back(event.facts.at("step").get<std::uint64_t>());
    }
    return steps;
  }

  int lives = 0;
  std::uint32_t ranks = 1;  // as it says
  bool saves_itself = true;
  bool answers = true;
  std::vector<std::uint64_t> begun;  // the step after which each life began
  // After each step; an exit code ends it.
  std::function<std::optional<int>(std::uint64_t step, SnapshotClient&)> after = {};

 private:
  int live(sim::SimProcessSelf& self) {
    std::string socket;
    for (const auto& [name, value] : *self.spec().environment) {
      if (name == "OUTLAST_SOCKET") socket = value;
    }
    sys::World& world = machine().world();
    auto client =
        SnapshotClient::connect(world, socket, {.rank = 0, .ranks = ranks, .bytes = 4000}, {});
    EXPECT_TRUE(client) << client.error().to_string();
    if (!client) return 1;
    const auto resumed = (*client)->resume();
    std::uint64_t step = resumed ? resumed->step : 0;
    EXPECT_TRUE(!resumed || std::ranges::equal(resumed->bytes, wordy_state(step)));
    begun.push_back(step);
    while (step < kLastStep) {
      (void)world.clock.sleep_for(kPace, {});
      ++step;
      EXPECT_TRUE(!answers || (*client)->step_done(step, wordy_state(step), saves_itself));
      if (after) {
        if (const std::optional<int> code = after(step, **client)) return *code;
      }
      if ((*client)->leaves()) return (*client)->leave_code();
    }
    (*client)->done();
    return 0;
  }
};

TEST(AttemptSnapshots, ATrainerThatCrashesGoesOnFromMemoryWhileTheRootIsAway) {
  SnapshotTrial trial;
  trial.after = [&](std::uint64_t step, SnapshotClient&) -> std::optional<int> {
    if (step == 6) trial.is_away = true;
    if (step == 12 && trial.lives == 1) return 1;
    if (step == 15) trial.is_away = false;
    return std::nullopt;
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kDone) << ending.why;
  EXPECT_EQ(trial.begun, (std::vector<std::uint64_t>{0, 12}));
  ASSERT_EQ(trial.witness.texts("resumed").size(), 1U);
  EXPECT_TRUE(
      trial.witness.texts("resumed").front().ends_with("from step 12, which was in memory"));
  EXPECT_EQ(trial.saved_steps().back(), kLastStep);
}

TEST(AttemptSnapshots, WhatACrashLeftInMemoryIsSavedBeforeTheMachineEnds) {
  SnapshotTrial trial;
  // In the second that a trainer that has failed is given before it is started again.
  trial.news = [](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kPace * 10 + std::chrono::milliseconds(600), {});
    board.post({.source = "news", .ends = world.clock.mono_now() + seconds(20)});
  };
  trial.after = [](std::uint64_t step, SnapshotClient&) -> std::optional<int> {
    return step == 10 ? std::optional(1) : std::nullopt;
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kLeft) << ending.why;
  EXPECT_EQ(trial.lives, 1);
  EXPECT_EQ(trial.saved_steps().back(), 10U);
}

TEST(AttemptSnapshots, DoneIsDoneWhateverTheExitCode) {
  SnapshotTrial trial;
  trial.after = [](std::uint64_t step, SnapshotClient& client) -> std::optional<int> {
    if (step < 5) return std::nullopt;
    client.done();
    return 3;
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kDone) << ending.why;
  EXPECT_EQ(trial.lives, 1);
  EXPECT_EQ(trial.saved_steps().back(), 5U);
}

TEST(AttemptSnapshots, WhoIsAskedToLeaveIsSavedAndLeaves) {
  SnapshotTrial trial;
  trial.saves_itself = false;
  std::uint64_t left_after = 0;
  trial.news = [](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kPace * 10 + seconds(5), {});
    board.post({.source = "news", .ends = world.clock.mono_now() + minutes(1)});
  };
  trial.after = [&](std::uint64_t step, SnapshotClient& client) -> std::optional<int> {
    if (client.leaves()) left_after = step;
    return std::nullopt;
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kLeft) << ending.why;
  EXPECT_EQ(left_after, 11U);
  EXPECT_EQ(trial.saved_steps().back(), 11U);
  EXPECT_EQ(trial.witness.texts("asked"),
            std::vector<std::string>{"asked the trainer for a snapshot, and to leave"});
}

TEST(AttemptSnapshots, WhoIsAskedToLeaveAndSaysThatItIsDoneIsDone) {
  SnapshotTrial trial;
  trial.news = [](notice::NoticeBoard& board, sys::World& world) {
    (void)world.clock.sleep_for(kPace * 10 + seconds(5), {});
    board.post({.source = "news", .ends = world.clock.mono_now() + minutes(1)});
  };
  trial.after = [](std::uint64_t, SnapshotClient& client) -> std::optional<int> {
    if (!client.leaves()) return std::nullopt;
    client.done();
    return client.leave_code();
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kDone) << ending.why;
  EXPECT_EQ(trial.saved_steps().back(), 11U);
}

TEST(AttemptSnapshots, ATrainerThatNeverSavesIsToldOf) {
  SnapshotTrial trial;
  trial.answers = false;
  AttemptEnding ending;
  trial.run_to(ending);
  const std::vector<std::string> told = trial.witness.texts("nothing-yet");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told.front().starts_with("the trainer uses an SDK and has taken no snapshot yet"))
      << told.front();
}

TEST(AttemptSnapshots, ARankThatDoesNotComeIsToldOf) {
  SnapshotTrial trial;
  trial.ranks = 2;
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(trial.witness.texts("nothing-yet"),
            std::vector<std::string>{"rank 1 of 2 is not there: until it comes, nothing is safe"});
  EXPECT_TRUE(trial.saved_steps().empty());
}

TEST(AttemptSnapshots, EverySoManyStepsIsExactlyAtThoseSteps) {
  SnapshotTrial trial;
  trial.saves_itself = false;
  trial.spec.checkpoint.every = {.unit = job::CheckpointEvery::Unit::kSteps, .count = 5};
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kDone) << ending.why;
  EXPECT_EQ(trial.saved_steps(), (std::vector<std::uint64_t>{5, 10, 15, 20}));
}

TEST(AttemptSnapshots, ATrainerThatCrashesMoreOftenThanItIsSavedIsSavedNevertheless) {
  SnapshotTrial trial;
  constexpr std::uint64_t kStepsPerLife = 3;  // half of the interval of a minute
  trial.after = [](std::uint64_t step, SnapshotClient&) -> std::optional<int> {
    return step % kStepsPerLife == 0 && step < kLastStep ? std::optional(1) : std::nullopt;
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kDone) << ending.why;
  EXPECT_EQ(trial.lives, 7);
  std::uint64_t before = 0;
  for (const std::uint64_t saved : trial.saved_steps()) {
    EXPECT_LE(saved - before, 2 * kStepsPerLife + 1);
    before = saved;
  }
  EXPECT_EQ(before, kLastStep);
}

// One that does not look at what is read, as Python may not see it in time.
TEST(AttemptSnapshots, WhoOverwritesWhatIsReadIsAskedAgain) {
  SnapshotTrial trial;
  trial.saves_itself = false;
  std::uint64_t overwritten = 0;
  trial.after = [&](std::uint64_t step, SnapshotClient& client) -> std::optional<int> {
    sdk::ArenaWords words = client.words();
    const auto newest = sdk::newest_snapshot(words, client.slots());
    if (!newest || overwritten != 0) return std::nullopt;
    overwritten = step;
    while (words.load(sdk::kReading) == 0) {
      (void)trial.machine().clock().sleep_for(std::chrono::microseconds(1), {});
    }
    words.store(sdk::slot_word(newest->slot, sdk::kBegun), newest->number + 1);
    return std::nullopt;
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_GT(overwritten, 0U);
  ASSERT_FALSE(trial.saved_steps().empty());
  EXPECT_EQ(trial.saved_steps().front(), overwritten + 1);
}

std::string read_notes(sys::World& world) {
  return sys::read_file(world.files, "/work/notes", 100).value_or("");
}
void write_notes(sys::World& world, std::uint64_t step) {
  EXPECT_TRUE(sys::write_file_atomically(world.files, "/work/notes",
                                         as_bytes(fmt::format("after {}", step))));
}

TEST(AttemptSnapshots, FilesAndSnapshotsAreOneCheckpoint) {
  SnapshotTrial trial;
  sys::World& world = trial.machine().world();
  std::string found;
  trial.after = [&](std::uint64_t step, SnapshotClient&) -> std::optional<int> {
    if (trial.lives == 2 && found.empty()) found = read_notes(world);
    // Not at each step: it must come to rest before it crashes.
    if (step % 4 == 0) write_notes(world, step);
    if (step == 14 && trial.lives == 1) return 1;
    return std::nullopt;
  };
  AttemptEnding ending;
  trial.run_to(ending, [&](sys::World&) {
    auto checkpoints = checkpoint::Checkpoints::open({.root = trial.root(),
                                                      .files = world.files,
                                                      .threads = world.threads,
                                                      .clock = world.clock,
                                                      .random = world.random,
                                                      .writer = "reader"},
                                                     "demo", {});
    ASSERT_TRUE(checkpoints) << checkpoints.error().to_string();
    const auto restored =
        (*checkpoints)->restore({.folder = "/back", .regions_as_files = true}, {});
    ASSERT_TRUE(restored) << restored.error().to_string();
    EXPECT_EQ(sys::read_file(world.files, "/back/notes", 100).value_or(""), "after 20");
    const auto loaded = (*checkpoints)->load(restored->entry, {});
    ASSERT_TRUE(loaded);
    const auto regions = checkpoint::regions_of(*loaded);
    ASSERT_EQ(regions.size(), 1U);
    EXPECT_EQ(regions.begin()->first.name, kSnapshotRegion);
    Bytes bytes(regions.begin()->second);
    ASSERT_TRUE(checkpoint::restore_regions((*checkpoints)->reader_parts(), *loaded,
                                            {{regions.begin()->first, bytes}}, {}));
    EXPECT_EQ(bytes, wordy_state(kLastStep));
  });
  EXPECT_EQ(ending.outcome, AttemptOutcome::kDone) << ending.why;
  // Who has files, too, goes on from a checkpoint, which has both.
  EXPECT_EQ(trial.begun, (std::vector<std::uint64_t>{0, 14}));
  EXPECT_EQ(found, "after 12");
  ASSERT_EQ(trial.witness.texts("resumed").size(), 1U);
  EXPECT_NE(trial.witness.texts("resumed").front().find("(checkpoint "), std::string::npos);
}

// What lies there may be half a file: nobody goes on with it, whatever is in memory.
TEST(AttemptSnapshots, AFileThatWasBeingWrittenInACrashIsNotGoneOnWith) {
  SnapshotTrial trial;
  sys::World& world = trial.machine().world();
  std::optional<std::string> found;
  trial.after = [&](std::uint64_t step, SnapshotClient&) -> std::optional<int> {
    if (trial.lives == 2 && !found) found = read_notes(world);
    write_notes(world, step);
    if (step == 14 && trial.lives == 1) return 1;
    return std::nullopt;
  };
  AttemptEnding ending;
  trial.run_to(ending);
  EXPECT_EQ(ending.outcome, AttemptOutcome::kDone) << ending.why;
  ASSERT_TRUE(found);
  EXPECT_NE(*found, "after 14");
  ASSERT_EQ(trial.witness.texts("resumed").size(), 1U);
  EXPECT_NE(trial.witness.texts("resumed").front().find("(checkpoint "), std::string::npos);
}

std::set<std::string> packs(const store::MemoryBucket& bucket) {
  std::set<std::string> keys;
  for (const store::ObjectInfo& info : bucket.list({.prefix = "jobs/demo/packs/"}).objects) {
    keys.insert(info.key);
  }
  return keys;
}

TEST(AttemptSnapshots, AnotherMachineGoesOnFromTheNewestCheckpointThatIsNotDamaged) {
  SnapshotTrial trial;
  std::set<std::string> sound;
  std::uint64_t sound_step = 0;
  trial.after = [&](std::uint64_t step, SnapshotClient&) -> std::optional<int> {
    if (step == 10 && trial.lives == 1) {
      sound = packs(trial.bucket());
      sound_step = trial.saved_steps().back();
    }
    return std::nullopt;
  };
  trial.news = [&](notice::NoticeBoard& board, sys::World& world) {
    if (trial.lives > 0) return;
    (void)world.clock.sleep_for(kPace * 17, {});
    board.post({.source = "news", .ends = world.clock.mono_now() + minutes(1)});
  };
  AttemptEnding first;
  AttemptEnding second;
  trial.on_machine([&](sys::World& world) {
    trial.run_attempt(world, first);
    for (const std::string& key : packs(trial.bucket())) {
      if (sound.contains(key)) continue;
      Bytes bytes = *trial.bucket().find(key, {})->bytes;
      for (std::byte& byte : bytes) byte ^= std::byte{1};
      ASSERT_TRUE(trial.bucket().put(key, std::move(bytes), {}, world.clock.wall_now()));
    }
    trial.run_attempt(world, second);
  });
  EXPECT_EQ(first.outcome, AttemptOutcome::kLeft) << first.why;
  EXPECT_EQ(second.outcome, AttemptOutcome::kDone) << second.why;
  EXPECT_GT(sound_step, 0U);
  EXPECT_GT(trial.saved_steps().size(), 2U);
  EXPECT_EQ(trial.begun, (std::vector<std::uint64_t>{0, sound_step}));
  EXPECT_FALSE(trial.witness.texts("damaged").empty());
}

}  // namespace
}  // namespace outlast::agent
