#include "trainers/torch/bert_learner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "sdk/snapshots.h"
#include "trainers/torch/torch_run.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kSteps = 10;

// Texts whose class is told by a few of their words.
TokenSet made_up(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  TokenSet set;
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint16_t>(i % 3);
    std::vector<std::int32_t> text = {2};
    const std::int64_t length = random.between(3, 12);
    for (std::int64_t j = 0; j < length; ++j) {
      text.push_back(random.chance(0.4) ? 4 + label
                                        : static_cast<std::int32_t>(random.between(7, 49)));
    }
    text.push_back(3);
    set.texts.add(text);
    set.labels.push_back(label);
  }
  return set;
}

BertLearnerOptions tiny_options() {
  BertLearnerOptions options{.shape = *bert_shape("tiny"),
                             .seed = 7,
                             .batch_size = 4,
                             .learning_rate = 1e-3,
                             .schedule = {.kind = Schedule::Kind::kLinear, .warmup_steps = 2},
                             .steps = kSteps,
                             .labels = {"red", "green", "blue"}};
  options.shape.vocabulary = 50;
  options.shape.classes = 3;
  options.shape.positions = 32;
  return options;
}

// Seven steps an epoch, of which the last has one text.
BertLearner tiny_learner() {
  use_threads(1);
  return {tiny_options(), {.train = made_up(25, 1), .test = made_up(9, 2), .asked = made_up(9, 2)}};
}

std::string new_folder(const std::string& name) {
  const std::string path = ::testing::TempDir() + "bert_" + name;
  std::filesystem::remove_all(path);
  return path;
}

TEST(BertLearner, WhatWasInterruptedEqualsWhatWasNot) {
  BertLearner whole = tiny_learner();
  for (std::uint64_t step = 0; step < kSteps; ++step) ASSERT_TRUE(whole.step(step));
  for (const std::uint64_t stop : {1U, 5U, 7U}) {
    const std::string folder = new_folder("stop_" + std::to_string(stop));
    {
      BertLearner first = tiny_learner();
      Snapshots snapshots({.folder = folder});
      first.describe(snapshots);
      ASSERT_FALSE(snapshots.resume().has_value());
      for (std::uint64_t step = 0; step < stop; ++step) ASSERT_TRUE(first.step(step));
      snapshots.save(stop);
    }
    BertLearner second = tiny_learner();
    Snapshots snapshots({.folder = folder});
    second.describe(snapshots);
    const auto resumed = snapshots.resume();
    ASSERT_EQ(resumed, stop);
    for (std::uint64_t step = *resumed; step < kSteps; ++step) {
      // To evaluate in between changes nothing.
      ASSERT_TRUE(second.evaluate());
      ASSERT_TRUE(second.step(step));
    }
    EXPECT_EQ(second.weights(), whole.weights()) << "stopped after " << stop;
  }
}

TEST(BertLearner, LearnsWhatWordsTell) {
  BertLearnerOptions options = tiny_options();
  options.steps = 40;
  BertLearner learner(options,
                      {.train = made_up(60, 1), .test = made_up(30, 2), .asked = made_up(3, 3)});
  const Evaluation before = *learner.evaluate();
  for (std::uint64_t step = 0; step < options.steps; ++step) {
    const auto report = learner.step(step);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->examples, 4U);
  }
  const Evaluation after = *learner.evaluate();
  EXPECT_EQ(after.examples, 30U);
  EXPECT_LT(after.loss, 0.5 * before.loss);
  EXPECT_GT(after.accuracy(), 0.9);
}

TEST(BertLearner, PredictsALineForEachText) {
  BertLearner learner = tiny_learner();
  std::vector<Prediction> predictions;
  ASSERT_TRUE(learner.predict([&](const Prediction& prediction) -> Result<void> {
    predictions.push_back(prediction);
    return {};
  }));
  ASSERT_EQ(predictions.size(), 9U);
  EXPECT_EQ(predictions[0].example, "1");
  EXPECT_EQ(predictions[1].truth, "green");
  EXPECT_GE(predictions[0].probability, 1.0 / 3);
  EXPECT_LE(predictions[0].probability, 1);
}

TEST(BertLearner, ItsWeightsMakeAnotherTheSame) {
  BertLearner learner = tiny_learner();
  ASSERT_TRUE(learner.step(0));
  BertLearner other = tiny_learner();
  ASSERT_NE(other.weights(), learner.weights());
  ASSERT_TRUE(other.load(learner.weights()));
  EXPECT_EQ(other.weights(), learner.weights());
  EXPECT_EQ(other.evaluate()->loss, learner.evaluate()->loss);
}

}  // namespace
}  // namespace outlast::trainers
