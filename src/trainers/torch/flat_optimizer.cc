#include "trainers/torch/flat_optimizer.h"

#include <cmath>
#include <string>

#include "base/check.h"
#include "sdk/snapshots.h"

namespace outlast::trainers {

FlatOptimizer::FlatOptimizer(FlatParameters& parameters, const FlatOptimizerOptions& options)
    : parameters_(parameters), options_(options) {
  OUTLAST_CHECK(
      options_.weight_decay.size() == 1 || options_.weight_decay.size() == parameters.groups(),
      "{} weight decays for {} groups", options_.weight_decay.size(), parameters.groups());
  const bool is_adam = options_.rule != FlatRule::kSgd;
  if (is_adam || options_.momentum != 0) momentum_ = torch::zeros_like(parameters.values());
  if (is_adam) variance_ = torch::zeros_like(parameters.values());
}

void FlatOptimizer::describe(Snapshots& snapshots) const {
  if (options_.rule == FlatRule::kSgd) {
    if (momentum_.defined()) {
      parameters_.describe_like(snapshots, "sgd.momentum.", momentum_);
    }
    return;
  }
  const std::string name = options_.rule == FlatRule::kAdam ? "adam." : "adamw.";
  parameters_.describe_like(snapshots, name + "m.", momentum_);
  parameters_.describe_like(snapshots, name + "v.", variance_);
}

double FlatOptimizer::weight_decay(std::size_t group) const {
  return options_.weight_decay.size() == 1 ? options_.weight_decay[0]
                                           : options_.weight_decay[group];
}

void FlatOptimizer::update(std::size_t group, const Step& step) {
  const FlatParameters::Range range = parameters_.range(group);
  if (range.count == 0) return;
  const torch::NoGradGuard no_gradients;
  const auto part = [&range](const torch::Tensor& flat) {
    return flat.narrow(0, range.begin, range.count);
  };
  torch::Tensor value = part(parameters_.values());
  torch::Tensor gradient = part(parameters_.gradients());
  const double decay = weight_decay(group);
  if (options_.rule == FlatRule::kAdamW) {
    if (decay != 0) value.mul_(1 - step.learning_rate * decay);
  } else if (decay != 0) {
    gradient.add_(value, decay);
  }
  if (options_.rule == FlatRule::kSgd) {
    if (options_.momentum == 0) {
      value.add_(gradient, -step.learning_rate);
      return;
    }
    // In PyTorch the first step puts the gradient itself into the momentum: the same, as it is 0.
    torch::Tensor momentum = part(momentum_);
    momentum.mul_(options_.momentum).add_(gradient);
    value.add_(momentum, -step.learning_rate);
    return;
  }
  torch::Tensor mean = part(momentum_);
  torch::Tensor variance = part(variance_);
  mean.lerp_(gradient, 1 - options_.beta1);
  variance.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
  const auto count = static_cast<double>(step.count);
  const double mean_bias = 1 - std::pow(options_.beta1, count);
  const double variance_bias = 1 - std::pow(options_.beta2, count);
  // The gradients are of no use any more: their memory takes the denominator.
  torch::sqrt_out(gradient, variance);
  gradient.div_(std::sqrt(variance_bias)).add_(options_.epsilon);
  value.addcdiv_(mean, gradient, -step.learning_rate / mean_bias);
}

void FlatOptimizer::update_all(const Step& step) {
  for (std::size_t group = 0; group < parameters_.groups(); ++group) update(group, step);
}

double FlatOptimizer::clip_gradients(double norm_max) {
  const torch::NoGradGuard no_gradients;
  const double norm = parameters_.gradients().norm().item<double>();
  if (norm > norm_max) parameters_.gradients().mul_(norm_max / (norm + 1e-6));
  return norm;
}

}  // namespace outlast::trainers
