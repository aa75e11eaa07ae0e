#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sdk/arena.h"
#include "sdk/snapshots.h"
#include "sdk/testing/fake_agent.h"

namespace outlast {
namespace {

std::string refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const SnapshotError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A trainer with one tensor and one blob.
struct SmallTrainer {
  std::vector<float> weights = std::vector<float>(1000);
  std::string blob = "small";
  Snapshots snapshots;

  explicit SmallTrainer(SnapshotOptions options = {}) : snapshots(std::move(options)) {
    snapshots.add("weights", weights.data(), weights.size());
    snapshots.add_blob(
        "blob", 10, [this] { return blob; }, [this](std::string_view bytes) { blob = bytes; });
  }
};

std::string refusal_by(const sdk::FakeAgent::Options& options) {
  sdk::FakeAgent agent(options);
  SmallTrainer trainer;
  std::string sentence = refused([&] { trainer.snapshots.resume(); });
  // Nothing was begun: the same again.
  EXPECT_EQ(refused([&] { trainer.snapshots.save(1); }), sentence);
  return sentence;
}

TEST(SnapshotsTrouble, NothingIsRegisteredAfterTheFirstSaveOrResume) {
  sdk::FakeAgent agent;
  float more = 0;
  for (const bool resumes : {false, true}) {
    SmallTrainer trainer;
    if (resumes) {
      trainer.snapshots.resume();
    } else {
      trainer.snapshots.save(1);
    }
    EXPECT_TRUE(has(refused([&] { trainer.snapshots.add("more", &more, 1); }), "before resume()"));
    EXPECT_THROW(trainer.snapshots.add_value("more", &more), SnapshotError);
    EXPECT_THROW(trainer.snapshots.add_blob(
                     "more", 1, [] { return std::string(); }, [](std::string_view /*bytes*/) {}),
                 SnapshotError);
    trainer.snapshots.save(2);
  }
}

TEST(SnapshotsTrouble, NothingRegisteredIsNothingToSave) {
  sdk::FakeAgent agent;
  Snapshots snapshots;
  EXPECT_TRUE(has(refused([&] { snapshots.save(1); }), "nothing is registered"));
  EXPECT_THROW(snapshots.resume(), SnapshotError);
  EXPECT_THROW(snapshots.step_done(1), SnapshotError);
}

TEST(SnapshotsTrouble, ABlobThatIsTooLongChangesNothing) {
  sdk::FakeAgent agent;
  SmallTrainer trainer;
  trainer.snapshots.save(1);
  trainer.blob = "eleven bytes";
  EXPECT_TRUE(has(refused([&] { trainer.snapshots.save(2); }), "blob 'blob' has 12 bytes"));
  EXPECT_THROW(trainer.snapshots.save_async(2), SnapshotError);
  EXPECT_EQ(agent.newest()->step, 1U);
  trainer.blob = "short";
  trainer.snapshots.save(3);
  EXPECT_EQ(agent.newest()->step, 3U);
  EXPECT_EQ(trainer.snapshots.resume(), 3U);
  EXPECT_EQ(trainer.blob, "short");
}

TEST(SnapshotsTrouble, AStateLargerThanMemoryIsRefusedInTheAgentsWords) {
  EXPECT_TRUE(has(refusal_by({.memory_max = 1000}), "the state does not fit into memory"));
  EXPECT_TRUE(has(refusal_by({.refusal = "rank 0 is taken"}), "rank 0 is taken"));
}

TEST(SnapshotsTrouble, AnotherVersionIsRefused) {
  EXPECT_TRUE(has(refusal_by({.protocol = 2}), "speaks protocol 2, and this is 1"));
  EXPECT_TRUE(has(refusal_by({.version = 9}), "an arena of version 9"));
  EXPECT_TRUE(has(refusal_by({.magic = 1}), "is no arena"));
}

TEST(SnapshotsTrouble, MemoryThatIsNotWhatTheWelcomeSaysIsRefused) {
  EXPECT_TRUE(has(refusal_by({.bytes_missing = 4096}), "were promised"));
  EXPECT_TRUE(has(refusal_by({.has_memory = false}), "sends no memory"));
  const std::string begin = R"({"type":"welcome","protocol":1,"slots":)";
  EXPECT_TRUE(has(refusal_by({.answer = begin + R"(1,"slot_bytes":8192})"}), "other slots"));
  EXPECT_TRUE(has(refusal_by({.answer = begin + R"(0,"slot_bytes":8192})"}), "cannot be"));
  EXPECT_TRUE(has(refusal_by({.answer = begin + R"(3,"slot_bytes":8192})"}), "cannot be"));
  EXPECT_TRUE(has(refusal_by({.answer = begin + R"(2,"slot_bytes":8191})"}), "cannot be"));
  EXPECT_TRUE(has(refusal_by({.answer = begin + R"(2,"slot_bytes":4096})"}), "slots of 4096"));
  EXPECT_TRUE(
      has(refusal_by({.answer = begin + R"(2,"slot_bytes":9223372036854775808})"}), "cannot be"));
  EXPECT_TRUE(has(refusal_by({.answer = R"({"type":"welcome"})"}), "speaks protocol 0"));
  EXPECT_TRUE(has(refusal_by({.answer = "[]"}), "something else than a message"));
  EXPECT_TRUE(has(refusal_by({.answer = "\xff"}), "something else than a message"));
}

TEST(SnapshotsTrouble, TrainingGoesOnWhenTheAgentDies) {
  sdk::FakeAgent agent;
  SmallTrainer trainer({.every_steps = 1});
  trainer.snapshots.save(1);
  agent.die();
  ::testing::internal::CaptureStderr();
  for (std::uint64_t step = 2; step <= 5; ++step) {
    EXPECT_TRUE(trainer.snapshots.step_done(step));
    trainer.snapshots.save(step);
    trainer.snapshots.save_async(step);
    trainer.snapshots.before_update();
    trainer.snapshots.metrics({{"loss", 1}});
  }
  trainer.snapshots.done();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(trainer.snapshots.has_agent());
  EXPECT_FALSE(trainer.snapshots.notice());
  EXPECT_EQ(said,
            "outlast: outlast itself has ended: training goes on, but nothing is saved any more\n");
}

TEST(SnapshotsTrouble, OneSlotWaitsWhileItIsRead) {
  sdk::FakeAgent agent({.slots = 1});
  SmallTrainer trainer;
  trainer.weights.assign(1000, 1);
  trainer.snapshots.save(1);
  const auto first = agent.newest();
  sdk::ArenaWords words = agent.words();
  ASSERT_TRUE(sdk::begin_reading(words, *first));
  std::thread reader([&] {
    sdk::ArenaWords own = agent.words();
    EXPECT_TRUE(sdk::is_still_whole(own, *first));
    sdk::end_reading(own);
  });
  trainer.weights.assign(1000, 2);
  trainer.snapshots.save(2);
  reader.join();
  EXPECT_EQ(agent.newest()->step, 2U);
}

TEST(SnapshotsTrouble, NobodyWaitsForAnAgentThatDiedWhileItRead) {
  sdk::FakeAgent agent({.slots = 1});
  SmallTrainer trainer;
  trainer.snapshots.save(1);
  sdk::ArenaWords words = agent.words();
  ASSERT_TRUE(sdk::begin_reading(words, *agent.newest()));
  agent.die();
  trainer.snapshots.save(2);
  EXPECT_FALSE(trainer.snapshots.has_agent());
  EXPECT_EQ(agent.newest()->step, 1U);
}

TEST(SnapshotsTrouble, AForkedChildMayNotUseThem) {
  sdk::FakeAgent agent;
  std::optional<SmallTrainer> trainer(std::in_place);
  trainer->snapshots.save(1);
  const pid_t child = ::fork();
  if (child == 0) {
    float more = 0;
    int wrong = 0;
    Snapshots& snapshots = trainer->snapshots;
    wrong += has(refused([&] { snapshots.save(2); }), "was forked from") ? 0 : 1;
    wrong += refused([&] { snapshots.save_async(2); }).empty() ? 1 : 0;
    wrong += refused([&] { snapshots.step_done(2); }).empty() ? 1 : 0;
    wrong += refused([&] { snapshots.resume(); }).empty() ? 1 : 0;
    wrong += refused([&] { snapshots.before_update(); }).empty() ? 1 : 0;
    wrong += refused([&] { snapshots.add("more", &more, 1); }).empty() ? 1 : 0;
    snapshots.progress(9);
    snapshots.metrics({{"loss", 1}});
    snapshots.done();
    wrong += snapshots.has_agent() || snapshots.notice() || snapshots.is_wanted(1) ? 1 : 0;
    trainer.reset();
    ::_exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  trainer->snapshots.save(2);
  EXPECT_EQ(agent.newest()->step, 2U);
  EXPECT_TRUE(agent.wait_for("done", 0).empty());
}

TEST(SnapshotsTrouble, AnotherStateThanTheSnapshotsIsRefusedAndNothingChanges) {
  sdk::FakeAgent agent;
  {
    SmallTrainer trainer;
    trainer.weights.assign(1000, 5);
    trainer.snapshots.save(1);
  }
  agent.wait_for_ends(1);
  std::vector<float> weights(500, 7);
  Snapshots snapshots;
  snapshots.add("weights", weights.data(), Dtype::kF32, {500});
  EXPECT_TRUE(has(refused([&] { snapshots.resume(); }),
                  "'weights' is registered as F32 [500], and the snapshot has it as F32 [1000]"));
  EXPECT_EQ(weights, std::vector<float>(500, 7));
}

TEST(SnapshotsTrouble, WhatABlobsSetThrowsComesOutAfterTheTensorsAreBack) {
  sdk::FakeAgent agent;
  {
    SmallTrainer trainer;
    trainer.weights.assign(1000, 5);
    trainer.snapshots.save(1);
  }
  agent.wait_for_ends(1);
  std::vector<float> weights(1000, 7);
  Snapshots snapshots;
  snapshots.add("weights", weights.data(), weights.size());
  snapshots.add_blob(
      "blob", 10, [] { return std::string(); },
      [](std::string_view bytes) { throw std::runtime_error("not " + std::string(bytes)); });
  EXPECT_THROW(snapshots.resume(), std::runtime_error);
  EXPECT_EQ(weights, std::vector<float>(1000, 5));
}

TEST(SnapshotsTrouble, ACheckSpeaksBeforeTheTensorsDo) {
  sdk::FakeAgent agent;
  {
    std::vector<float> weights(1000, 5);
    Snapshots snapshots;
    snapshots.add("weights", weights.data(), weights.size());
    snapshots.add_check("kind", 10, [] { return std::string("small"); }, [](std::string_view) {});
    snapshots.save(1);
  }
  agent.wait_for_ends(1);
  std::vector<float> weights(500, 7);
  Snapshots snapshots;
  snapshots.add("weights", weights.data(), weights.size());
  snapshots.add_check(
      "kind", 10, [] { return std::string("large"); },
      [](std::string_view kind) { throw std::runtime_error("it is " + std::string(kind)); });
  try {
    snapshots.resume();
    FAIL() << "a snapshot of another kind was taken";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), std::string("it is small"));
  }
  EXPECT_EQ(weights, std::vector<float>(500, 7));
}

TEST(SnapshotsTrouble, ALongerBlobThanIsRegisteredIsRefusedAndNothingChanges) {
  sdk::FakeAgent agent;
  {
    SmallTrainer trainer;
    trainer.snapshots.save(1);
  }
  agent.wait_for_ends(1);
  std::vector<float> weights(1000, 7);
  Snapshots snapshots;
  snapshots.add("weights", weights.data(), weights.size());
  snapshots.add_blob(
      "blob", 4, [] { return std::string(); }, [](std::string_view /*bytes*/) { FAIL(); });
  EXPECT_TRUE(has(refused([&] { snapshots.resume(); }), "'blob' is registered as a blob of at"));
  EXPECT_EQ(weights, std::vector<float>(1000, 7));
}

TEST(SnapshotsTrouble, RanksThatCannotBeAreRefused) {
  EXPECT_THROW(Snapshots({.rank = 1}), SnapshotError);
  EXPECT_THROW(Snapshots({.ranks = 1}), SnapshotError);
  EXPECT_THROW(Snapshots({.rank = 2, .ranks = 2}), SnapshotError);
  ::setenv("WORLD_SIZE", "4", 1);
  Snapshots is_alone;  // RANK is missing
  ::setenv("RANK", "four", 1);
  EXPECT_THROW(Snapshots(), SnapshotError);
  ::setenv("RANK", "4", 1);
  EXPECT_THROW(Snapshots(), SnapshotError);
  ::setenv("RANK", "3", 1);
  {
    sdk::FakeAgent agent;
    SmallTrainer trainer;
    trainer.snapshots.save(1);
    EXPECT_TRUE(has(agent.wait_for("hello", 1)[0], R"("rank":3,"ranks":4)"));
  }
  ::unsetenv("RANK");
  ::unsetenv("WORLD_SIZE");
}

}  // namespace
}  // namespace outlast
