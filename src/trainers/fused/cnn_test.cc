#include "trainers/fused/cnn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "sys/posix_world.h"
#include "trainers/fused/testing/plain_cnn.h"

namespace outlast::trainers::fused {
namespace {

// Pictures of noise, and labels.
struct Noise {
  Noise(std::size_t count, const CnnShape& shape) {
    Random random(7);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::uint8_t>& picture = pictures.emplace_back(shape.channels * 1024);
      for (std::uint8_t& byte : picture) byte = static_cast<std::uint8_t>(random.below(256));
      labels.push_back(static_cast<std::uint16_t>(random.below(shape.classes)));
    }
    for (const std::vector<std::uint8_t>& picture : pictures) pointers.push_back(picture.data());
    batch = {.pictures = pointers.data(),
             .labels = labels.data(),
             .count = count,
             .channels = shape.channels};
  }
  std::vector<std::vector<std::uint8_t>> pictures;
  std::vector<std::uint16_t> labels;
  std::vector<const std::uint8_t*> pointers;
  Batch batch;
};

PlainTensors plain(const float* floats, const CnnShape& shape) {
  PlainTensors tensors;
  for (const CnnTensor& tensor : cnn_tensors(shape)) {
    for (const std::uint32_t place : tensor.places) tensors[tensor.name].push_back(floats[place]);
  }
  return tensors;
}

class FusedCnn : public testing::TestWithParam<const Kernels*> {
 protected:
  sys::RealWorld real_;
  sys::Threads& threads_ = real_.world().threads;
};

void expect_near_the_definition(const CnnShape& shape, std::size_t count, const Kernels& kernels) {
  sys::RealWorld real;
  sys::Threads& threads = real.world().threads;
  Cnn cnn(shape, threads, 1, kernels);
  cnn.draw_parameters(3);
  const Noise noise(count, shape);
  const BatchResult result = cnn.gradients(noise.batch);
  const std::vector<float> logits = cnn.infer(noise.batch);

  const PlainCnn reference(shape.channels, shape.classes, plain(cnn.parameters().data(), shape));
  PlainTensors wanted;
  double loss = 0;
  std::uint64_t correct = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const PlainResult one = reference.learn(noise.pointers[i], noise.labels[i]);
    loss += one.loss;
    correct += static_cast<std::size_t>(std::ranges::max_element(one.logits) -
                                        one.logits.begin()) == noise.labels[i];
    for (std::size_t c = 0; c < shape.classes; ++c) {
      EXPECT_NEAR(logits[i * shape.classes + c], one.logits[c], 1e-5);
    }
    for (const auto& [name, gradient] : one.gradients) {
      std::vector<double>& sum = wanted[name];
      sum.resize(gradient.size());
      for (std::size_t g = 0; g < gradient.size(); ++g) {
        sum[g] += gradient[g] / static_cast<double>(count);
      }
    }
  }
  EXPECT_NEAR(result.loss, loss, 1e-5 * loss);
  EXPECT_EQ(result.correct, correct);
  for (const auto& [name, got] : plain(cnn.gradient().data(), shape)) {
    double largest = 0;
    double error = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      largest = std::max(largest, std::abs(wanted[name][i]));
      error = std::max(error, std::abs(wanted[name][i] - got[i]));
    }
    EXPECT_GT(largest, 0) << name;
    EXPECT_LT(error, 1e-4 * largest) << name;
  }
}

TEST_P(FusedCnn, HasTheGradientsOfItsDefinition) {
  expect_near_the_definition({.channels = 3, .classes = 10}, 5, *GetParam());
}
TEST_P(FusedCnn, HasThemWithOneChannelAndManyClasses) {
  expect_near_the_definition({.channels = 1, .classes = 101}, 3, *GetParam());
}

// Weights after some steps, as they are in memory.
std::vector<float> trained(const Kernels& kernels, unsigned workers, Update update,
                           const CnnShape& shape = {}) {
  sys::RealWorld real;
  sys::Threads& threads = real.world().threads;
  Cnn cnn(shape, threads, workers, kernels);
  cnn.draw_parameters(5);
  const Noise noise(70, shape);
  for (update.step = 1; update.step <= 2; ++update.step) cnn.learn(noise.batch, update);
  return {cnn.parameters().data(), cnn.parameters().data() + cnn.parameters().size()};
}

const Update kSgdUpdate{.learning_rate = 0.01F, .momentum = 0.9F, .weight_decay = 0.001F};
const Update kAdamUpdate{.rule = Update::Rule::kAdam, .learning_rate = 0.001F};
const Update kAdamWUpdate{
    .rule = Update::Rule::kAdamW, .learning_rate = 0.001F, .weight_decay = 0.01F};

TEST_P(FusedCnn, GivesTheSameBitsOnEveryProcessorAndWithAnyNumberOfThreads) {
  for (const Update& update : {kSgdUpdate, kAdamUpdate, kAdamWUpdate}) {
    const std::vector<float> wanted = trained(best_kernels(), 1, update);
    EXPECT_EQ(trained(*GetParam(), 3, update), wanted);
  }
}

TEST_P(FusedCnn, StepsAsTheRulesSay) {
  const CnnShape shape;
  Cnn cnn(shape, threads_, 1, *GetParam());
  cnn.draw_parameters(5);
  const Noise noise(2, shape);
  const CnnLayout& layout = cnn.layout();
  const std::size_t at = layout.dense3_bias;  // has always a gradient
  const double before = cnn.parameters().data()[at];
  cnn.learn(noise.batch, kSgdUpdate);
  double slope = cnn.gradient().data()[at] + 0.001 * before;
  double wanted = before - 0.01 * slope;
  EXPECT_NEAR(cnn.parameters().data()[at], wanted, 1e-7);
  cnn.learn(noise.batch, kSgdUpdate);
  slope = 0.9 * slope + cnn.gradient().data()[at] + 0.001 * wanted;
  EXPECT_NEAR(cnn.parameters().data()[at], wanted - 0.01 * slope, 1e-7);
}

TEST_P(FusedCnn, AdamBeginsWithAStepOfItsRate) {
  const CnnShape shape;
  Cnn cnn(shape, threads_, 1, *GetParam());
  cnn.draw_parameters(5);
  const std::size_t at = cnn.layout().dense3_bias;
  const float before = cnn.parameters().data()[at];
  const Noise noise(2, shape);
  cnn.learn(noise.batch, kAdamUpdate);
  const float sign = cnn.gradient().data()[at] > 0 ? 1.0F : -1.0F;
  EXPECT_NEAR(cnn.parameters().data()[at], before - sign * 0.001F, 1e-6);
}

TEST_P(FusedCnn, KeepsItsPaddingAtZero) {
  for (const std::size_t channels : {1U, 3U}) {
    const CnnShape shape{.channels = channels};
    const std::vector<float> weights = trained(*GetParam(), 1, kAdamWUpdate, shape);
    std::vector<bool> used(weights.size());
    for (const CnnTensor& tensor : cnn_tensors(shape)) {
      for (const std::uint32_t place : tensor.places) used[place] = true;
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!used[i]) {
        ASSERT_EQ(weights[i], 0) << i << ", " << channels << " channels";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FusedCnn, testing::ValuesIn(usable_kernels()));

}  // namespace
}  // namespace outlast::trainers::fused
