#include "trainers/torch/convolution.h"

#include <gtest/gtest.h>

namespace outlast::trainers {
namespace {

using torch::Tensor;

constexpr auto kChannelsLast = torch::MemoryFormat::ChannelsLast;

torch::nn::Conv2dOptions pointwise(bool has_bias) {
  return torch::nn::Conv2dOptions(5, 7, 1).bias(has_bias);
}

double distance(const Tensor& one, const Tensor& other) {
  return (one - other).abs().max().item<double>();
}

TEST(Convolution, OfOnePixelIsPyTorchs) {
  for (const bool has_bias : {false, true}) {
    torch::manual_seed(1);
    Convolution ours(pointwise(has_bias));
    const Tensor images = torch::randn({3, 5, 6, 4}).contiguous(kChannelsLast);
    const Tensor weights_of_sum = torch::randn({3, 7, 6, 4});  // in the other format, on purpose

    const Tensor our_input = images.clone().requires_grad_();
    const Tensor made = ours->forward(our_input);
    EXPECT_TRUE(made.is_contiguous(kChannelsLast));
    (made * weights_of_sum).sum().backward();
    const Tensor our_weight = ours->weight.grad().clone();
    const Tensor our_bias = has_bias ? ours->bias.grad().clone() : Tensor();
    ours->zero_grad();

    const Tensor input = images.clone().requires_grad_();
    const Tensor expected = torch::conv2d(input, ours->weight, ours->bias);
    (expected * weights_of_sum).sum().backward();
    EXPECT_LT(distance(made, expected), 1e-5);
    EXPECT_LT(distance(our_input.grad(), input.grad()), 1e-5);
    EXPECT_LT(distance(our_weight, ours->weight.grad()), 1e-4);
    if (!has_bias) continue;
    EXPECT_LT(distance(our_bias, ours->bias.grad()), 1e-4);
  }
}

TEST(Convolution, WithAFrozenWeightHasNoGradientOfIt) {
  Convolution ours(pointwise(false));
  ours->weight.set_requires_grad(false);
  const Tensor input = torch::randn({2, 5, 3, 3}).contiguous(kChannelsLast).requires_grad_();
  ours->forward(input).sum().backward();
  EXPECT_FALSE(ours->weight.grad().defined());
  EXPECT_TRUE(input.grad().defined());
}

}  // namespace
}  // namespace outlast::trainers
