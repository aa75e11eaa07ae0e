#include "trainers/torch/bert_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace outlast::trainers {
namespace {

const BertShape kModel{.layers = 1, .hidden = 16, .heads = 2, .vocabulary = 10, .positions = 8};

struct Loaded {
  std::vector<BertParameter> parameters = bert_parameters(kModel);
  std::vector<float> values = std::vector<float>(bert_array_size(parameters));

  Result<void> load(const Weights& weights, bool may_lack_head = true) {
    return load_bert(parameters, weights, {.may_lack_head = may_lack_head}, values.data());
  }
};

std::vector<float> begun(std::uint64_t seed) {
  const std::vector<BertParameter> parameters = bert_parameters(kModel);
  std::vector<float> values(bert_array_size(parameters));
  begin_bert(parameters, seed, values.data());
  return values;
}

Weights published(std::uint64_t seed = 3) {
  return bert_weights(bert_parameters(kModel), begun(seed).data());
}

void rename_all(Weights& weights, std::string_view from, std::string_view to) {
  for (WeightTensor& tensor : weights.tensors) {
    if (const std::size_t at = tensor.name.find(from); at != std::string::npos) {
      tensor.name.replace(at, from.size(), to);
    }
  }
}

void drop_all_with(Weights& weights, std::string_view part) {
  std::erase_if(weights.tensors, [&](const WeightTensor& tensor) {
    return tensor.name.find(part) != std::string::npos;
  });
}

TEST(BertWeights, WhatWasWrittenIsReadBack) {
  Loaded loaded;
  ASSERT_TRUE(loaded.load(published(), false));
  EXPECT_EQ(loaded.values, begun(3));
}

TEST(BertWeights, AnEncoderAloneIsLoadedAndTheHeadStays) {
  Weights weights = published();
  drop_all_with(weights, "classifier");
  drop_all_with(weights, "pooler");
  rename_all(weights, "bert.", "");
  Loaded loaded;
  const std::size_t head = loaded.parameters[loaded.parameters.size() - 2].begin;
  loaded.values[head] = 42;
  ASSERT_TRUE(loaded.load(weights));
  EXPECT_EQ(loaded.values[0], begun(3)[0]);
  EXPECT_EQ(loaded.values[head], 42);
}

TEST(BertWeights, AHeadMayBeMissingOnlyWhereItWillBeTrained) {
  Weights weights = published();
  drop_all_with(weights, "classifier");
  Loaded loaded;
  const Result<void> result = loaded.load(weights, false);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().sentence(),
            "classifier.weight is missing there; in this model it is 2 x 16");
}

TEST(BertWeights, NamesOfOldFilesAndEntriesOfOtherHeadsAreKnown) {
  Weights weights = published();
  rename_all(weights, "LayerNorm.weight", "LayerNorm.gamma");
  rename_all(weights, "LayerNorm.bias", "LayerNorm.beta");
  weights.tensors.push_back({.name = "cls.predictions.bias", .shape = {10}, .data = Bytes(40)});
  weights.tensors.push_back(
      {.name = "bert.embeddings.position_ids", .shape = {}, .data = Bytes(4)});
  Loaded loaded;
  ASSERT_TRUE(loaded.load(weights));
  EXPECT_EQ(loaded.values, begun(3));
}

TEST(BertWeights, AnotherShapeIsSaidWithBothAndNothingChanges) {
  Weights weights = published();
  weights.tensors.back() = {
      .name = "classifier.bias", .dtype = checkpoint::Dtype::kF32, .shape = {5}, .data = Bytes(20)};
  Loaded loaded;
  const Result<void> result = loaded.load(weights);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().sentence(),
            "classifier.bias is 5 there and 2 in this model: another --size, vocabulary or number "
            "of classes");
  EXPECT_TRUE(std::all_of(loaded.values.begin(), loaded.values.end(),
                          [](float value) { return value == 0; }));
}

TEST(BertWeights, AMissingLayerAndOneTooManyAreSaid) {
  Weights fewer = published();
  drop_all_with(fewer, "layer.0.output.dense.weight");
  Loaded loaded;
  EXPECT_EQ(loaded.load(fewer).error().sentence(),
            "bert.encoder.layer.0.output.dense.weight is missing there; in this model it is 16 x "
            "64");
  Weights more = published();
  more.tensors.push_back({.name = "bert.encoder.layer.1.output.dense.weight",
                          .dtype = checkpoint::Dtype::kF32,
                          .shape = {16, 64},
                          .data = Bytes(4096)});
  EXPECT_EQ(loaded.load(more).error().sentence(),
            "bert.encoder.layer.1.output.dense.weight is 16 x 64 there, and this model has none: "
            "another --size or model");
}

TEST(BertWeights, HalfPrecisionIsReadAsItIs) {
  Weights weights = published();
  // 1.5 and -2, in either form.
  weights.tensors.back() = {
      .name = "classifier.bias",
      .dtype = checkpoint::Dtype::kF16,
      .shape = {2},
      .data = {std::byte{0x00}, std::byte{0x3e}, std::byte{0x00}, std::byte{0xc0}}};
  Loaded loaded;
  ASSERT_TRUE(loaded.load(weights));
  const std::size_t begin = loaded.parameters.back().begin;
  EXPECT_EQ(loaded.values[begin], 1.5F);
  EXPECT_EQ(loaded.values[begin + 1], -2.0F);
  weights.tensors.back().dtype = checkpoint::Dtype::kBF16;
  weights.tensors.back().data = {std::byte{0xc0}, std::byte{0x3f}, std::byte{0x00},
                                 std::byte{0xc0}};
  ASSERT_TRUE(loaded.load(weights));
  EXPECT_EQ(loaded.values[begin], 1.5F);
  EXPECT_EQ(loaded.values[begin + 1], -2.0F);
}

}  // namespace
}  // namespace outlast::trainers
