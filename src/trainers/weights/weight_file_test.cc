#include "trainers/weights/weight_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "sys/file_ops.h"
#include "sys/testing/real_world_maker.h"
#include "sys/world.h"
#include "trainers/weights/pth_file.h"
#include "trainers/weights/pth_value.h"
#include "trainers/weights/testing/made_weights.h"

namespace outlast::trainers::testing {
namespace {
namespace weight_file_test {

using checkpoint::Dtype;
using Names = std::vector<std::string>;

Weights some_weights() {
  return {.tensors = {counting("conv1.weight", Dtype::kF32, {2, 3}),
                      counting("bn1.num_batches_tracked", Dtype::kI64, {}),
                      counting("empty", Dtype::kF16, {0, 4}), counting("mask", Dtype::kBool, {2})}};
}

Names names_of(const Weights& weights) {
  Names names;
  for (const WeightTensor& tensor : weights.tensors) names.push_back(tensor.name);
  return names;
}

Names plain_names(const Names& names) {
  Weights weights;
  for (const std::string& name : names) weights.tensors.push_back(counting(name, Dtype::kI8, {}));
  return names_of(plain_state(std::move(weights)));
}

TEST(WeightFile, TheContentTellsTheFormatNotTheName) {
  sys::testing::real_world().run([](sys::World& world, const std::string& dir) {
    const Weights weights = some_weights();
    const std::string path = dir + "/weights.bin";
    ASSERT_TRUE(write_pth(world.files, path, weights));
    auto read = read_weights(world.files, path);
    ASSERT_TRUE(read) << read.error().to_string();
    EXPECT_EQ(*read, weights);

    ASSERT_TRUE(write_safetensors(world.files, path, weights, {{"format", "pt"}}));
    read = read_weights(world.files, path);
    ASSERT_TRUE(read) << read.error().to_string();
    ASSERT_EQ(read->tensors.size(), weights.tensors.size());
    for (const WeightTensor& tensor : weights.tensors) {
      const WeightTensor* found = read->find(tensor.name);
      ASSERT_NE(found, nullptr) << tensor.name;
      EXPECT_EQ(*found, tensor);
    }
    EXPECT_EQ(read->find("conv1"), nullptr);
    EXPECT_EQ(read->scalars, (std::map<std::string, WeightScalar>{{"format", std::string("pt")}}));
  });
}

TEST(WeightFile, WhatIsNestedIsCalledByTheWayToIt) {
  PthDict state;
  state.add("module.conv1.weight", {counting("", Dtype::kF32, {2})});
  PthDict slots;
  slots.entries.push_back({.key = std::int64_t{0}, .value = {counting("", Dtype::kF32, {2})}});
  PthDict all;
  all.add("state_dict", {state});
  all.add("optimizer", {PthList{.items = {PthValue{slots}, PthValue{0.5}, PthValue{}}}});
  all.add("epoch", {std::int64_t{7}});
  const auto weights = flat_weights({all}, 1000);
  ASSERT_TRUE(weights) << weights.error().to_string();
  EXPECT_EQ(names_of(*weights), (Names{"state_dict.module.conv1.weight", "optimizer.0.0"}));
  EXPECT_EQ(weights->scalars, (std::map<std::string, WeightScalar>{{"epoch", std::int64_t{7}},
                                                                   {"optimizer.1", 0.5}}));
  all.add("state_dict.module.conv1.weight", {std::int64_t{1}});
  EXPECT_EQ(flat_weights({all}, 1000).error().to_string(),
            "two values in it would both be called \"state_dict.module.conv1.weight\"");
}

TEST(WeightFile, LongKeysAboveManyValuesAreLimited) {
  PthDict inner;
  for (int i = 0; i < 2000; ++i) inner.add(std::to_string(i), {});
  PthDict outer;
  outer.add(std::string(1000, 'x'), {inner});
  EXPECT_FALSE(flat_weights({outer}, 1000));
  EXPECT_TRUE(flat_weights({outer}, 100'000));
}

TEST(WeightFile, WhatCheckpointsPutAroundNamesIsTakenOff) {
  EXPECT_EQ(plain_names({"state_dict.module.a", "state_dict.module.b", "optimizer.state.0.m"}),
            (Names{"a", "b"}));
  EXPECT_EQ(plain_names({"model_state_dict.a", "optimizer_state_dict.state.0.m"}), (Names{"a"}));
  EXPECT_EQ(plain_names({"model.a", "optimizer.state.0.m", "scheduler.x"}), (Names{"a"}));
  EXPECT_EQ(plain_names({"module.a", "module.b"}), (Names{"a", "b"}));
  EXPECT_EQ(plain_names({"a", "b"}), (Names{"a", "b"}));
  // A model's own names may begin so.
  EXPECT_EQ(plain_names({"model.layers.0", "lm_head"}), (Names{"model.layers.0", "lm_head"}));
  EXPECT_EQ(plain_names({}), Names());
}

TEST(WeightFile, AnErrorNamesTheFileAndWhatIsWrong) {
  sys::testing::real_world().run([](sys::World& world, const std::string& dir) {
    const std::string path = dir + "/a.pth";
    const auto refusal = [&](const Bytes& content) {
      EXPECT_TRUE(sys::write_file_atomically(world.files, path, content));
      const auto read = read_weights(world.files, path);
      return read ? "accepted" : read.error().to_string();
    };
    EXPECT_EQ(refusal({}), "read weights of " + path +
                               ": 0 bytes that begin with \"\" (in hex) are neither safetensors "
                               "nor a .pth file of PyTorch");
    EXPECT_EQ(refusal(bytes_of("\x89HDF\r\n\x1a\n...")),
              "read weights of " + path +
                  ": 11 bytes that begin with \"894844460d0a1a0a\" (in hex) are neither "
                  "safetensors nor a .pth file of PyTorch");
    EXPECT_EQ(refusal(bytes_of(eight_bytes(200) + "{}")),
              "read weights of " + path +
                  ": not a sound safetensors file: a header of 200 bytes in a file of 10");
    EXPECT_EQ(read_weights(world.files, dir + "/none").error().code(), ErrorCode::kNotFound);
  });
}

// Published weights of ResNets for CIFAR-10, saved by a PyTorch of 2018 from a GPU.
TEST(WeightFile, PublishedWeightsAreRead) {
  const char* data = std::getenv("OUTLAST_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "OUTLAST_TEST_DATA names no folder with published weights";
  sys::testing::real_world().run([&](sys::World& world, const std::string&) {
    const std::string folder = sys::join_path(data, "resnet-cifar10");
    const auto entries = world.files.list(folder);
    if (!entries) GTEST_SKIP() << entries.error().to_string();
    int read = 0;
    for (const auto& entry : *entries) {
      if (!entry.name.ends_with(".th")) continue;
      const auto weights = read_weights(world.files, sys::join_path(folder, entry.name));
      ASSERT_TRUE(weights) << weights.error().to_string();
      ++read;
      EXPECT_EQ(weights->tensors.front().name, "state_dict.module.conv1.weight");
      EXPECT_GT(std::get<double>(weights->scalars.at("best_prec1")), 90.0);
      const Weights plain = plain_state(*weights);
      EXPECT_EQ(plain.tensors.size(), weights->tensors.size());
      const WeightTensor* conv = plain.find("conv1.weight");
      ASSERT_NE(conv, nullptr);
      EXPECT_EQ(conv->shape, (std::vector<std::uint64_t>{16, 3, 3, 3}));
      const WeightTensor* linear = plain.find("linear.bias");
      ASSERT_NE(linear, nullptr);
      EXPECT_EQ(linear->shape, (std::vector<std::uint64_t>{10}));
      EXPECT_EQ(linear->dtype, Dtype::kF32);
    }
    EXPECT_GT(read, 0);
  });
}

}  // namespace weight_file_test
}  // namespace
}  // namespace outlast::trainers::testing
