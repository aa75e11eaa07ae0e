#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainers/torch/flat_parameters.h"

namespace outlast {
class Snapshots;
}

namespace outlast::trainers {

enum class FlatRule { kSgd, kAdam, kAdamW };

struct FlatOptimizerOptions {
  FlatRule rule = FlatRule::kSgd;
  double momentum = 0;  // kSgd
  double beta1 = 0.9;   // kAdam, kAdamW
  double beta2 = 0.999;
  double epsilon = 1e-8;
  // kSgd and kAdam add it to the gradient, kAdamW shrinks the parameter by it. One for each group,
  // or one for all.
  std::vector<double> weight_decay = {0};
};

// What torch::optim has under these names, with the same results but for rounding, as a few
// operations on flat tensors. Confined to its owner.
class FlatOptimizer {
 public:
  // `parameters` outlives this.
  FlatOptimizer(FlatParameters& parameters, const FlatOptimizerOptions& options);

  // All that it keeps: "sgd.momentum.", "adam.m.", "adam.v." or "adamw.m.", "adamw.v." and the
  // parameter's name.
  void describe(Snapshots& snapshots) const;

  struct Step {
    double learning_rate = 0;
    std::uint64_t count = 1;  // how many updates the group has had with this one
  };
  // One update of a group by its gradients.
  void update(std::size_t group, const Step& step);
  void update_all(const Step& step);
  // Scales all gradients so that their norm is at most this; returns the norm that they had.
  double clip_gradients(double norm_max);

 private:
  double weight_decay(std::size_t group) const;

  FlatParameters& parameters_;
  FlatOptimizerOptions options_;
  torch::Tensor momentum_;  // kSgd with momentum; Adam's m
  torch::Tensor variance_;  // Adam's v
};

}  // namespace outlast::trainers
