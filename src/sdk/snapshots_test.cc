#include "sdk/snapshots.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/arena.h"
#include "sdk/snapshot_header.h"
#include "sdk/testing/fake_agent.h"
#include "sdk/tiny_json.h"

namespace outlast {
namespace {

// A trainer with a little of everything.
struct Trainer {
  std::vector<float> weights = std::vector<float>(300'000);
  std::vector<double> momentum = std::vector<double>(1000);
  std::uint64_t seen = 0;
  std::string random = "seed";
  Snapshots snapshots;

  explicit Trainer(SnapshotOptions options = {}) : snapshots(std::move(options)) {
    snapshots.add("gewichte/ä😀", weights.data(), Dtype::kF32, {300, 1000});
    snapshots.add("momentum", momentum.data(), momentum.size());
    snapshots.add_value("seen", &seen);
    snapshots.add_blob(
        "random", 100, [this] { return random; },
        [this](std::string_view bytes) { random = bytes; });
  }

  void fill(std::uint64_t step) {
    std::iota(weights.begin(), weights.end(), static_cast<float>(step));
    std::iota(momentum.begin(), momentum.end(), static_cast<double>(step) / 3);
    seen = step * 7;
    random = std::string(step % 100, 'r');
  }
  bool is_of(std::uint64_t step) const {
    Trainer other;
    other.fill(step);
    return weights == other.weights && momentum == other.momentum && seen == other.seen &&
           random == other.random;
  }
};

TEST(Snapshots, OutliveTheTrainer) {
  sdk::FakeAgent agent;
  {
    Trainer trainer;
    EXPECT_TRUE(trainer.snapshots.has_agent());
    EXPECT_EQ(trainer.snapshots.resume(), std::nullopt);
    for (std::uint64_t step = 1; step <= 5; ++step) {
      trainer.fill(step);
      trainer.snapshots.save(step);
    }
    trainer.fill(99);  // never saved
  }
  agent.wait_for("saved", 5);
  agent.wait_for_ends(1);
  Trainer next;
  EXPECT_EQ(next.snapshots.resume(), 5U);
  EXPECT_TRUE(next.is_of(5));
  EXPECT_EQ(agent.words().load(sdk::kStep), 6U);
  next.fill(6);
  next.snapshots.save(6);
  next.fill(7);
  EXPECT_EQ(next.snapshots.resume(), 6U);
  EXPECT_TRUE(next.is_of(6));
}

TEST(Snapshots, AreWholeSafetensorsFilesInTheArena) {
  sdk::FakeAgent agent;
  Trainer trainer;
  trainer.fill(41);
  trainer.snapshots.save(41);
  const auto newest = agent.newest();
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->step, 41U);
  EXPECT_EQ(newest->answers, 0U);
  const auto header = sdk::read_snapshot_header(agent.bytes_of(*newest));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->step, 41U);
  EXPECT_EQ(header->tensors.at("gewichte/ä😀").shape, (std::vector<std::uint64_t>{300, 1000}));
  const std::string hello = agent.wait_for("hello", 1)[0];
  EXPECT_NE(hello.find(R"("protocol":1,"rank":0,"ranks":1,"bytes":)"), std::string::npos) << hello;
}

TEST(Snapshots, AsyncSaveIsWholeBeforeAnythingChanges) {
  sdk::FakeAgent agent;
  Trainer trainer;
  trainer.snapshots.before_update();  // nothing is under way, nor connected
  for (std::uint64_t step = 1; step <= 30; ++step) {
    trainer.fill(step);
    trainer.snapshots.save_async(step);
    trainer.random = "blobs were taken already";
    if (step % 3 == 0) {
      agent.wait_for("saved", step);  // also if the trainer never comes back
    }
    trainer.snapshots.before_update();
    ASSERT_EQ(agent.newest()->step, step);
    trainer.weights[7] = -1;
  }
  EXPECT_EQ(trainer.snapshots.resume(), 30U);
  EXPECT_TRUE(trainer.is_of(30));
}

TEST(Snapshots, OtherCallsWaitForAnAsyncSave) {
  sdk::FakeAgent agent;
  {
    Trainer trainer;
    trainer.fill(1);
    trainer.snapshots.save_async(1);
    EXPECT_TRUE(trainer.snapshots.step_done(1));
    trainer.fill(2);
    trainer.snapshots.save_async(2);
    EXPECT_EQ(trainer.snapshots.resume(), 2U);
    trainer.snapshots.save_async(3);
    trainer.snapshots.save(4);
    trainer.snapshots.save_async(5);
  }
  EXPECT_EQ(agent.newest()->step, 5U);
}

TEST(Snapshots, AWishIsAnsweredFromItsStepOn) {
  sdk::FakeAgent agent;
  Trainer trainer({.every_steps = 1000});
  EXPECT_TRUE(trainer.snapshots.step_done(1));
  EXPECT_EQ(agent.words().load(sdk::kStep), 2U);
  sdk::ArenaWords words = agent.words();
  words.store(sdk::kAskStep, 4);
  words.store(sdk::kAsk, 2);
  EXPECT_FALSE(trainer.snapshots.is_wanted(3));
  EXPECT_TRUE(trainer.snapshots.is_wanted(4));
  EXPECT_TRUE(trainer.snapshots.step_done(3));
  EXPECT_FALSE(agent.newest());
  EXPECT_TRUE(trainer.snapshots.step_done(4));
  ASSERT_TRUE(agent.newest());
  EXPECT_EQ(agent.newest()->step, 4U);
  EXPECT_EQ(agent.newest()->answers, 2U);
  EXPECT_FALSE(trainer.snapshots.is_wanted(5));
  EXPECT_TRUE(trainer.snapshots.step_done(5));
  EXPECT_EQ(agent.newest()->step, 4U);
  words.store(sdk::kAsk, 4);
  trainer.snapshots.save(6);  // whoever saves answers
  EXPECT_EQ(agent.newest()->answers, 4U);
  EXPECT_FALSE(trainer.snapshots.is_wanted(7));
}

TEST(Snapshots, TheAgentSeesTheStepOfWhoeverAsksOrSaves) {
  sdk::FakeAgent agent;
  Trainer trainer;
  EXPECT_EQ(trainer.snapshots.resume(), std::nullopt);
  EXPECT_EQ(agent.words().load(sdk::kStep), 0U);
  EXPECT_FALSE(trainer.snapshots.is_wanted(4));
  EXPECT_EQ(agent.words().load(sdk::kStep), 5U);
  trainer.snapshots.save(6);
  EXPECT_EQ(agent.words().load(sdk::kStep), 7U);
  trainer.snapshots.save_async(8);
  EXPECT_EQ(agent.words().load(sdk::kStep), 9U);
}

TEST(Snapshots, LeavesAfterTheAnswerToAnOddWish) {
  sdk::FakeAgent agent;
  {
    Trainer trainer({.every_steps = 1000});
    EXPECT_TRUE(trainer.snapshots.step_done(1));
    EXPECT_FALSE(trainer.snapshots.notice());
    agent.words().store(sdk::kDeadline, 1'700'000'000'500);
    agent.words().store(sdk::kAsk, 7);
    ASSERT_TRUE(trainer.snapshots.notice());
    EXPECT_EQ(trainer.snapshots.notice()->ends.time_since_epoch(),
              std::chrono::milliseconds(1'700'000'000'500));
    EXPECT_FALSE(trainer.snapshots.step_done(2));
    EXPECT_EQ(trainer.snapshots.leave_code(), 76);
    EXPECT_EQ(agent.newest()->answers, 7U);
    EXPECT_FALSE(trainer.snapshots.step_done(3));
    EXPECT_EQ(agent.newest()->step, 2U);
    trainer.snapshots.done();  // it is not
  }
  agent.wait_for_ends(1);
  EXPECT_TRUE(agent.wait_for("done", 0).empty());
  // The next trainer of this arena does not leave for the same wish.
  Trainer next({.every_steps = 1000});
  EXPECT_EQ(next.snapshots.resume(), 2U);
  EXPECT_TRUE(next.snapshots.step_done(3));
}

TEST(Snapshots, AreTakenEverySoManySteps) {
  sdk::FakeAgent agent;
  Trainer trainer({.every_steps = 3});
  for (std::uint64_t step = 1; step <= 10; ++step) trainer.snapshots.step_done(step);
  EXPECT_EQ(agent.newest()->step, 9U);
  EXPECT_EQ(agent.wait_for("saved", 3).size(), 3U);
}

TEST(Snapshots, TellHowFarTrainingIs) {
  sdk::FakeAgent agent;
  Trainer trainer;
  trainer.snapshots.progress(1);  // nobody listens yet
  trainer.snapshots.metrics({{"loss", 1}});
  EXPECT_EQ(trainer.snapshots.resume(), std::nullopt);
  trainer.snapshots.progress(120, 5000, 1.5);
  trainer.snapshots.progress(121, {}, std::numeric_limits<double>::infinity());
  trainer.snapshots.metrics({{"loss", 0.25},
                             {"nan", std::numeric_limits<double>::quiet_NaN()},
                             {"inf", -std::numeric_limits<double>::infinity()},
                             {"\xff", 1},
                             {"größe \"1\"", 3}});
  trainer.snapshots.metrics({{"only", std::numeric_limits<double>::quiet_NaN()}});
  trainer.snapshots.done();
  agent.wait_for("done", 1);
  const auto progress = agent.wait_for("progress", 2);
  ASSERT_EQ(progress.size(), 2U);
  EXPECT_EQ(progress[0], R"({"type":"progress","step":120,"total":5000,"epoch":1.5})");
  EXPECT_EQ(progress[1], R"({"type":"progress","step":121})");
  const auto metrics = agent.wait_for("metrics", 1);
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0], "{\"type\":\"metrics\",\"values\":{\"größe \\\"1\\\"\":3,\"loss\":0.25}}");
}

TEST(Snapshots, TheLastStateIsAlwaysTaken) {
  sdk::FakeAgent agent;
  {
    Trainer trainer({.every_steps = 1'000'000});
    trainer.snapshots.step_done(1);
    EXPECT_FALSE(agent.newest());
    trainer.snapshots.done();
    EXPECT_EQ(agent.newest().value().step, 1U);
  }
  Trainer trainer({.every_steps = 1'000'000});
  trainer.snapshots.step_done(4, 5);
  EXPECT_EQ(agent.newest().value().step, 1U);
  trainer.snapshots.step_done(5, 5);
  EXPECT_EQ(agent.newest().value().step, 5U);
}

TEST(Snapshots, ProgressDoesNotFloodTheAgent) {
  sdk::FakeAgent agent;
  Trainer trainer({.every_steps = 1'000'000});
  for (std::uint64_t step = 1; step <= 1000; ++step) trainer.snapshots.step_done(step, 1000);
  trainer.snapshots.done();
  agent.wait_for("done", 1);
  const auto progress = agent.wait_for("progress", 1);
  EXPECT_LT(progress.size(), 1000U);
  EXPECT_EQ(progress.back(), R"({"type":"progress","step":1000,"total":1000})");
}

TEST(Snapshots, HundredThousandTinyTensorsGoThereAndBack) {
  sdk::FakeAgent agent;
  std::vector<std::vector<float>> tensors;
  const auto fill = [&](float value) {
    tensors.clear();
    for (int i = 0; i < 100'000; ++i) tensors.push_back({value + static_cast<float>(i), value});
  };
  const auto add_all = [&](Snapshots& snapshots) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      snapshots.add("layer." + std::to_string(i), tensors[i].data(), tensors[i].size());
    }
  };
  fill(3);
  {
    Snapshots snapshots;
    add_all(snapshots);
    snapshots.save(1);
  }
  const auto saved = tensors;
  fill(4);
  Snapshots snapshots;
  add_all(snapshots);
  EXPECT_EQ(snapshots.resume(), 1U);
  EXPECT_EQ(tensors, saved);
}

TEST(Snapshots, AnyElementAndNoElementAtAll) {
  sdk::FakeAgent agent;
  std::array<bool, 3> flags = {true, false, true};
  std::array<long long, 2> wide = {-1, 1LL << 60};
  std::array<std::uint16_t, 2> half = {0x3C00, 0x7BFF};
  char letter = 'x';
  Snapshots snapshots;
  snapshots.add("flags", flags.data(), flags.size());
  snapshots.add("wide", wide.data(), wide.size());
  snapshots.add("half", half.data(), Dtype::kBF16, {2});
  snapshots.add("letter", &letter, 1);
  snapshots.add("none", static_cast<float*>(nullptr), 0);
  snapshots.save(1);
  flags = {};
  wide = {};
  half = {};
  letter = 0;
  EXPECT_EQ(snapshots.resume(), 1U);
  EXPECT_EQ(flags, (std::array<bool, 3>{true, false, true}));
  EXPECT_EQ(wide, (std::array<long long, 2>{-1, 1LL << 60}));
  EXPECT_EQ(half, (std::array<std::uint16_t, 2>{0x3C00, 0x7BFF}));
  EXPECT_EQ(letter, 'x');
}

}  // namespace
}  // namespace outlast
