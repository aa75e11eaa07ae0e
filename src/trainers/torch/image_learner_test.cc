#include "trainers/torch/image_learner.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sdk/snapshots.h"
#include "sys/posix_world.h"
#include "sys/threads.h"
#include "trainers/data/synthetic.h"
#include "trainers/images/memory_pictures.h"
#include "trainers/torch/mobilenet_v3.h"
#include "trainers/torch/resnet.h"
#include "trainers/torch/torch_run.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kSteps = 5;

enum class Net { kMobilenet, kResnet20 };

struct Case {
  Net net = Net::kResnet20;
  Optimizer optimizer = Optimizer::kSgd;
  bool is_frozen = false;
  std::optional<std::uint64_t> unfreeze_epoch = {};
  std::uint64_t seed = 7;
  std::size_t classes = 3;
  bool may_have_new_head = false;
  std::size_t decode_ahead = 2;
};

std::unique_ptr<Learner> make_learner(const Case& wanted, sys::Threads& threads) {
  ImageData data =
      synthetic_images({.classes = wanted.classes, .train_count = 24, .test_count = 8, .seed = 3});
  ImageLearnerOptions options;
  options.train = {.train_steps = kSteps,
                   .batch_size = 8,
                   .learning_rate = 0.01,
                   .optimizer = wanted.optimizer,
                   .momentum = 0.9,
                   .weight_decay = 1e-4,
                   .seed = wanted.seed,
                   .threads = 1};
  options.is_frozen = wanted.is_frozen;
  options.unfreeze_epoch = wanted.unfreeze_epoch;
  options.may_have_new_head = wanted.may_have_new_head;
  options.decode_ahead = wanted.decode_ahead;
  seed_first_weights(wanted.seed);
  const auto classes = static_cast<std::int64_t>(wanted.classes);
  return make_image_learner(
      {.model = wanted.net == Net::kMobilenet ? make_mobilenet_v3_small({.classes = classes})
                                              : make_resnet(ResnetKind::kResnet20, classes),
       .train = pictures_in_memory(std::move(data.train), {}),
       .test = pictures_in_memory(std::move(data.test), {}),
       .threads = threads},
      options);
}

// A folder for snapshots that is removed again.
class ImageLearning : public testing::Test {
 protected:
  ImageLearning()
      : folder_(std::filesystem::temp_directory_path() / "outlast-image-learner-XXXXXX") {
    folder_ = ::mkdtemp(folder_.data());
  }
  ~ImageLearning() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Learner> make_learner(const Case& wanted) {
    return trainers::make_learner(wanted, real_.world().threads);
  }

  // Trains with a new learner and a new process' snapshots after each of these steps.
  Weights train(const Case& wanted, const std::set<std::uint64_t>& interruptions) {
    const std::string folder = folder_ + "/" + std::to_string(runs_++);
    for (;;) {
      const std::unique_ptr<Learner> learner = make_learner(wanted);
      Snapshots snapshots({.every_steps = 1000, .folder = folder});
      learner->describe(snapshots);
      std::uint64_t step = snapshots.resume().value_or(0);
      do {
        const Result<StepReport> report = learner->step(step++);
        EXPECT_TRUE(report) << report.error().to_string();
        EXPECT_GT(report->loss, 0);
      } while (step < kSteps && !interruptions.contains(step));
      if (step == kSteps) return learner->weights();
      snapshots.save(step);
    }
  }

  void expect_same_bits(const Case& wanted) {
    const Weights whole = train(wanted, {});
    EXPECT_EQ(whole, train(wanted, {1, 3, 4}));
    Case other = wanted;
    other.seed += 1;
    EXPECT_NE(whole, train(other, {}));
  }

  sys::RealWorld real_;
  std::string folder_;
  int runs_ = 0;
};

TEST_F(ImageLearning, InterruptedSgdEndsWithTheSameBits) {
  expect_same_bits({});
}

TEST_F(ImageLearning, InterruptedAdamWithDropoutEndsWithTheSameBits) {
  expect_same_bits({.net = Net::kMobilenet, .optimizer = Optimizer::kAdam});
}

TEST_F(ImageLearning, InterruptedBeforeAndAfterUnfreezingEndsWithTheSameBits) {
  expect_same_bits({.optimizer = Optimizer::kAdam, .is_frozen = true, .unfreeze_epoch = 1});
}

TEST_F(ImageLearning, ReadingAheadOrNotEndsWithTheSameBits) {
  const Weights without = train({.decode_ahead = 0}, {});
  EXPECT_EQ(without, train({.decode_ahead = 1}, {2}));
  EXPECT_EQ(without, train({.decode_ahead = 7}, {}));
}

// As SIGTERM does it: batches are being read when the learner goes.
TEST_F(ImageLearning, MayEndInTheMiddle) {
  const std::unique_ptr<Learner> learner = make_learner({.decode_ahead = 50});
  EXPECT_TRUE(learner->step(1));
}

TEST_F(ImageLearning, WhatIsFrozenKeepsEveryBitAndHasNoMomentum) {
  const Case wanted{.is_frozen = true};
  const Weights before = make_learner(wanted)->weights();
  const Weights after = train(wanted, {2});
  std::uint64_t model_bytes = 0;
  for (std::size_t i = 0; i < before.tensors.size(); ++i) {
    const std::string& name = before.tensors[i].name;
    const bool is_head = name.starts_with("linear.");
    EXPECT_EQ(before.tensors[i] == after.tensors[i], !is_head) << name;
    model_bytes += before.tensors[i].data.size();
  }
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_)) {
    if (!file.is_regular_file()) continue;
    EXPECT_LT(file.file_size(), model_bytes * 3 / 2) << file.path();
  }
}

TEST_F(ImageLearning, EvaluatingChangesNothing) {
  const std::unique_ptr<Learner> learner = make_learner({.net = Net::kMobilenet});
  const Weights before = learner->weights();
  const Result<Evaluation> evaluation = learner->evaluate();
  ASSERT_TRUE(evaluation);
  EXPECT_EQ(evaluation->examples, 8U);
  EXPECT_EQ(before, learner->weights());
}

TEST_F(ImageLearning, LoadedWeightsAreThoseThatWereGiven) {
  const Weights trained = train({}, {});
  const std::unique_ptr<Learner> other = make_learner({.seed = 9});
  EXPECT_NE(trained, other->weights());
  const Result<void> loaded = other->load(trained);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(trained, other->weights());
}

TEST_F(ImageLearning, WeightsOfAnotherModelAreRefusedWithBothShapesAndNothingChanges) {
  const std::unique_ptr<Learner> learner = make_learner({});
  const Weights before = learner->weights();
  const Result<void> loaded = learner->load(make_learner({.classes = 4})->weights());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::kInvalidArgument);
  const std::string sentence = loaded.error().to_string();
  EXPECT_NE(sentence.find("linear."), std::string::npos) << sentence;
  EXPECT_NE(sentence.find('3'), std::string::npos) << sentence;
  EXPECT_NE(sentence.find('4'), std::string::npos) << sentence;
  EXPECT_EQ(before, learner->weights());
}

TEST_F(ImageLearning, AHeadOfOtherClassesStaysNewWhereThatIsAllowed) {
  const std::unique_ptr<Learner> learner = make_learner({.may_have_new_head = true});
  const Weights before = learner->weights();
  const Weights given = make_learner({.seed = 9, .classes = 4})->weights();
  const Result<void> loaded = learner->load(given);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const Weights after = learner->weights();
  EXPECT_EQ(*after.find("conv1.weight"), *given.find("conv1.weight"));
  EXPECT_EQ(*after.find("linear.weight"), *before.find("linear.weight"));
}

TEST_F(ImageLearning, ASingleRestIsNoStep) {
  EXPECT_EQ(steps_per_epoch({.count = 33, .batch_size = 8}), 4U);
  EXPECT_EQ(steps_per_epoch({.count = 34, .batch_size = 8}), 5U);
  EXPECT_EQ(steps_per_epoch({.count = 3, .batch_size = 8}), 1U);
}

}  // namespace
}  // namespace outlast::trainers
