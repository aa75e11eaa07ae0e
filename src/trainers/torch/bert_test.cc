#include "trainers/torch/bert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "trainers/torch/bert_shape.h"
#include "trainers/torch/bert_weights.h"

namespace outlast::trainers {
namespace {

constexpr BertShape kSmall{.layers = 2,
                           .hidden = 32,
                           .heads = 2,
                           .vocabulary = 30,
                           .classes = 3,
                           .positions = 12,
                           .token_types = 2};

// A model with its own memory.
struct Model {
  explicit Model(const BertShape& shape, std::uint64_t seed = 1)
      : parameters(bert_parameters(shape)),
        values(bert_array_size(parameters)),
        gradients(values.size()),
        bert(shape, {.values = values.data(), .gradients = gradients.data()}) {
    begin_bert(parameters, seed, values.data());
    // Larger weights than a new model has, so that every part of it has a say.
    Random random(seed + 1);
    for (float& value : values) value += static_cast<float>(random.unit() - 0.5) * 0.3F;
  }

  std::vector<BertParameter> parameters;
  std::vector<float> values;
  std::vector<float> gradients;
  Bert bert;
};

TokenBatch texts_of(const std::vector<std::vector<std::int32_t>>& texts) {
  TokenBatch batch;
  for (const std::vector<std::int32_t>& text : texts) batch.add(text);
  return batch;
}

const std::vector<std::vector<std::int32_t>> kTexts = {
    {1, 5, 9, 2}, {1, 2}, {1, 7, 7, 20, 3, 29, 2}};
const std::vector<std::uint16_t> kLabels = {0, 2, 1};

// The slope of the loss along a parameter's gradient must be the gradient's length.
void expect_gradients_are_slopes(const Drop& drop) {
  Model model(kSmall);
  const TokenBatch batch = texts_of(kTexts);
  model.bert.learn(batch, kLabels, drop);
  const std::vector<float> gradients = model.gradients;
  for (const BertParameter& parameter : model.parameters) {
    const std::span<const float> gradient(gradients.data() + parameter.begin, parameter.count);
    double squares = 0;
    for (const float number : gradient) squares += static_cast<double>(number) * number;
    const double length = std::sqrt(squares);
    // Adding the same to all keys changes no softmax.
    if (parameter.name.ends_with("key.bias")) {
      EXPECT_LT(length, 1e-5) << parameter.name;
      continue;
    }
    ASSERT_GT(length, 1e-4) << parameter.name;
    constexpr double kStep = 4e-3;
    const auto loss_at = [&](double sign) {
      const std::vector<float> before = model.values;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        model.values[parameter.begin + i] +=
            static_cast<float>(sign * kStep * gradient[i] / length);
      }
      const double loss = model.bert.learn(batch, kLabels, drop).loss;
      model.values = before;
      return loss;
    };
    EXPECT_NEAR((loss_at(1) - loss_at(-1)) / (2 * kStep), length, 0.01 * length + 2e-4)
        << parameter.name;
  }
}

TEST(Bert, GradientsAreTheSlopesOfTheLoss) {
  expect_gradients_are_slopes({});
}

TEST(Bert, GradientsAreTheSlopesOfTheLossWhenNumbersAreDropped) {
  expect_gradients_are_slopes({.key = 77, .rate = 0.2F});
}

TEST(Bert, ATextMeansTheSameInAnyCompany) {
  Model model(kSmall);
  const std::vector<float> together = model.bert.logits(texts_of(kTexts));
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    const std::vector<float> alone = model.bert.logits(texts_of({kTexts[i]}));
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(alone[j], together[3 * i + j], 1e-5);
  }
}

TEST(Bert, EveryTokenAndItsPlaceMatter) {
  Model model(kSmall);
  const std::vector<float> logits = model.bert.logits(texts_of({{1, 5, 9, 2}}));
  EXPECT_NE(model.bert.logits(texts_of({{1, 5, 8, 2}})), logits);
  EXPECT_NE(model.bert.logits(texts_of({{1, 9, 5, 2}})), logits);
}

TEST(Bert, WhatIsDroppedFollowsFromTheKeyAlone) {
  Model model(kSmall);
  const TokenBatch batch = texts_of(kTexts);
  const double loss = model.bert.learn(batch, kLabels, {.key = 5, .rate = 0.1F}).loss;
  const std::vector<float> gradients = model.gradients;
  EXPECT_NE(model.bert.learn(batch, kLabels, {.key = 6, .rate = 0.1F}).loss, loss);
  EXPECT_EQ(model.bert.learn(batch, kLabels, {.key = 5, .rate = 0.1F}).loss, loss);
  EXPECT_EQ(model.gradients, gradients);
}

TEST(Bert, WordsOfTheLastBatchLeaveNoGradientBehind) {
  Model model(kSmall);
  model.bert.learn(texts_of(kTexts), kLabels, {});
  model.bert.learn(texts_of({{1, 2}}), std::vector<std::uint16_t>{0}, {});
  const auto width = static_cast<std::size_t>(kSmall.hidden);
  for (std::size_t i = 0; i < width; ++i) EXPECT_EQ(model.gradients[7 * width + i], 0);
}

TEST(Bert, AsManyNumbersAreDroppedAsAskedFor) {
  const std::vector<float> ones(100'000, 1);
  std::vector<float> dropped(ones.size());
  drop({.key = 3, .rate = 0.1F}, ones.data(), {.end = static_cast<std::int64_t>(ones.size())},
       dropped.data());
  double sum = 0;
  for (const float number : dropped) {
    EXPECT_TRUE(number == 0 || std::abs(number - 1 / 0.9F) < 1e-6);
    sum += static_cast<double>(number);
  }
  EXPECT_NEAR(sum / static_cast<double>(ones.size()), 1, 0.005);
}

TEST(Bert, CrossEntropyIsThatOfTheTextbook) {
  const std::vector<float> logits = {0, 0, std::log(2.0F), 0};
  const std::vector<std::uint16_t> labels = {1, 0};
  std::vector<float> gradient(4);
  const BertLoss loss = cross_entropy(logits, labels, gradient.data());
  EXPECT_NEAR(loss.loss, (std::log(2.0) + std::log(1.5)) / 2, 1e-6);
  EXPECT_EQ(loss.correct, 1U);
  EXPECT_NEAR(gradient[1], -0.25, 1e-6);
  EXPECT_NEAR(gradient[2], -1.0 / 6, 1e-6);
}

TEST(BertShape, SizesAreThoseOfTheirAuthors) {
  // How many numbers the published models have, with two classes.
  const auto count = [](const char* size) {
    std::size_t sum = 0;
    BertShape shape = *bert_shape(size);
    for (const BertParameter& parameter : bert_parameters(shape)) sum += parameter.count;
    return sum;
  };
  EXPECT_EQ(count("tiny"), 4'386'178U);
  EXPECT_EQ(count("base"), 109'483'778U);
  EXPECT_FALSE(bert_shape("huge").has_value());
}

}  // namespace
}  // namespace outlast::trainers
