#include "trainers/torch/flat_optimizer.h"

#include <gtest/gtest.h>

#include <torch/optim.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainers/torch/torch_run.h"

namespace outlast::trainers {
namespace {

struct Small : torch::nn::Module {
  Small() {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 5, 3)));
    head = register_module("head", torch::nn::Linear(5, 2));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return head->forward(torch::relu(conv->forward(x)).mean({2, 3}));
  }
  torch::nn::Conv2d conv = nullptr;
  torch::nn::Linear head = nullptr;
};

torch::Tensor loss_of(Small& model, std::uint64_t step) {
  seed_torch({.seed = 5, .step = step});
  const torch::Tensor x = torch::randn({4, 3, 8, 8});
  return torch::cross_entropy_loss(model.forward(x), torch::randint(2, {4}, torch::kInt64));
}

// How far two models are from each other after 20 steps, one with torch::optim, the other flat.
double difference_after_training(torch::optim::Optimizer& theirs, Small& their_model,
                                 const FlatOptimizerOptions& options, Small& our_model) {
  FlatParameters flat(our_model, {.channels_last = true});
  FlatOptimizer ours(flat, options);
  for (std::uint64_t step = 0; step < 20; ++step) {
    theirs.zero_grad();
    loss_of(their_model, step).backward();
    theirs.step();
    flat.zero_gradients();
    loss_of(our_model, step).backward();
    ours.update_all({.learning_rate = 0.01, .count = step + 1});
  }
  double largest = 0;
  const auto our_parameters = our_model.named_parameters();
  for (const auto& item : their_model.named_parameters()) {
    const torch::Tensor off = (item.value() - our_parameters[item.key()]).abs().max();
    largest = std::max(largest, off.item<double>());
  }
  return largest;
}

struct Pair {
  std::shared_ptr<Small> theirs;
  std::shared_ptr<Small> ours;
};
Pair equal_models() {
  Pair pair;
  for (auto* model : {&pair.theirs, &pair.ours}) {
    seed_torch({.seed = 1, .step = 0});
    *model = std::make_shared<Small>();
  }
  return pair;
}

TEST(FlatOptimizer, SgdDoesWhatTorchDoes) {
  const Pair pair = equal_models();
  torch::optim::SGD theirs(pair.theirs->parameters(),
                           torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.1));
  EXPECT_LT(difference_after_training(
                theirs, *pair.theirs,
                {.rule = FlatRule::kSgd, .momentum = 0.9, .weight_decay = {0.1}}, *pair.ours),
            1e-6);
}

TEST(FlatOptimizer, AdamDoesWhatTorchDoes) {
  const Pair pair = equal_models();
  torch::optim::Adam theirs(pair.theirs->parameters(),
                            torch::optim::AdamOptions(0.01).weight_decay(0.1));
  EXPECT_LT(difference_after_training(theirs, *pair.theirs,
                                      {.rule = FlatRule::kAdam, .weight_decay = {0.1}}, *pair.ours),
            1e-5);
}

TEST(FlatOptimizer, AdamWDoesWhatTorchDoes) {
  const Pair pair = equal_models();
  torch::optim::AdamW theirs(pair.theirs->parameters(),
                             torch::optim::AdamWOptions(0.01).weight_decay(0.1));
  EXPECT_LT(
      difference_after_training(theirs, *pair.theirs,
                                {.rule = FlatRule::kAdamW, .weight_decay = {0.1}}, *pair.ours),
      1e-5);
}

TEST(FlatOptimizer, AGroupThatIsNotUpdatedKeepsEveryBit) {
  Small model;
  FlatParameters flat(model, {.group_of = [](const std::string& name) -> std::size_t {
                                return name.starts_with("head") ? 1 : 0;
                              },
                              .groups = 2});
  FlatOptimizer optimizer(flat, {.momentum = 0.9, .weight_decay = {0.1}});
  flat.set_trainable(0, false);
  const torch::Tensor conv = model.conv->weight.detach().clone();
  const torch::Tensor head = model.head->weight.detach().clone();
  loss_of(model, 0).backward();
  optimizer.update(1, {.learning_rate = 0.1});
  EXPECT_TRUE(conv.equal(model.conv->weight));
  EXPECT_FALSE(head.equal(model.head->weight));
}

}  // namespace
}  // namespace outlast::trainers
