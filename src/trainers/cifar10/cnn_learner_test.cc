#include "trainers/cifar10/cnn_learner.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "sys/posix_world.h"
#include "trainers/data/synthetic.h"

namespace outlast::trainers {
namespace {

ImageData pictures(std::size_t channels, std::size_t side) {
  return synthetic_images({.classes = 4,
                           .width = side,
                           .height = side,
                           .channels = channels,
                           .train_count = 400,
                           .test_count = 40,
                           .seed = 3});
}

TEST(CnnLearner, Learns) {
  sys::RealWorld real;
  const TrainOptions options{.epochs = 6,
                             .batch_size = 4,
                             .learning_rate = 0.001,
                             .optimizer = Optimizer::kAdam,
                             .threads = 1};
  CnnLearner learner(pictures(3, 32), options, real.world().threads);
  EXPECT_EQ(learner.steps_per_epoch(), 100U);
  double first = 0;
  double last = 0;
  for (std::uint64_t step = 0; step < 600; ++step) {
    const Result<StepReport> report = learner.step(step);
    ASSERT_TRUE(report);
    (step < 100 ? first : last) += report->loss / (step < 100 ? 100 : 500);
  }
  EXPECT_LT(last, first * 0.9);
  const Result<Evaluation> evaluation = learner.evaluate();
  ASSERT_TRUE(evaluation);
  EXPECT_EQ(evaluation->examples, 40U);
  EXPECT_GT(evaluation->accuracy(), 0.35);
}

TEST(CnnLearner, TakesBackItsOwnWeightsAndNoOthers) {
  sys::RealWorld real;
  const TrainOptions options{.epochs = 1, .batch_size = 7, .learning_rate = 0.01, .threads = 2};
  CnnLearner one(pictures(3, 32), options, real.world().threads);
  EXPECT_EQ(one.steps_per_epoch(), 58U);  // the last one has one picture
  ASSERT_TRUE(one.step(57));
  TrainOptions other_options = options;
  other_options.seed = 9;
  CnnLearner other(pictures(3, 32), other_options, real.world().threads);
  EXPECT_NE(one.weights(), other.weights());
  ASSERT_TRUE(other.load(one.weights()));
  EXPECT_EQ(one.weights(), other.weights());

  CnnLearner gray(pictures(1, 32), options, real.world().threads);
  const Result<void> loaded = gray.load(one.weights());
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().to_string().find("conv1.weight"), std::string::npos);
  EXPECT_NE(loaded.error().to_string().find("[6,3,5,5]"), std::string::npos)
      << loaded.error().to_string();
}

TEST(CnnLearner, PutsSmallPicturesIntoABlackFrame) {
  const ImageData data = pictures(1, 28);
  const Result<ImageSet> framed = with_border(data.test);
  ASSERT_TRUE(framed);
  EXPECT_EQ(framed->image(3).size(), 1024U);
  EXPECT_EQ(framed->image(3)[0], 0);
  EXPECT_EQ(framed->image(3)[2 * 32 + 2], data.test.image(3)[0]);
  EXPECT_EQ(framed->image(3)[29 * 32 + 29], data.test.image(3)[27 * 28 + 27]);
  EXPECT_FALSE(with_border(pictures(1, 33).test));
}

}  // namespace
}  // namespace outlast::trainers
