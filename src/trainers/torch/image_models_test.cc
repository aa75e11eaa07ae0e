#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainers/torch/mobilenet_v3.h"
#include "trainers/torch/resnet.h"

namespace outlast::trainers {
namespace {

// Numbers from -1 to 1 that any language can make.
torch::Tensor noise(std::int64_t count, std::int64_t number) {
  torch::Tensor made = torch::empty({count}, torch::kFloat64);
  auto* values = made.data_ptr<double>();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t hash = (i * 2654435761 + number * 40503) & 0xffffffff;
    hash ^= hash >> 15;
    hash = (hash * 0x2c1b3c6d) & 0xffffffff;
    hash ^= hash >> 13;
    values[i] = static_cast<double>(hash) / 2147483648.0 - 1;
  }
  return made;
}

void fill(torch::nn::Module& module) {
  std::map<std::string, torch::Tensor> tensors;
  for (const auto& item : module.named_parameters()) tensors[item.key()] = item.value();
  for (const auto& item : module.named_buffers()) {
    if (!item.key().ends_with("num_batches_tracked")) tensors[item.key()] = item.value();
  }
  const torch::NoGradGuard no_gradients;
  std::int64_t number = 0;
  for (auto& [name, tensor] : tensors) {
    torch::Tensor values = noise(tensor.numel(), number++);
    if (tensor.dim() > 1) {
      values *= std::sqrt(4.0 * static_cast<double>(tensor.size(0)) /
                          static_cast<double>(tensor.numel()));
    } else if (name.ends_with("running_var") || name.ends_with(".weight")) {
      values = 1 + 0.1 * values;
    } else {
      values *= 0.1;
    }
    tensor.copy_(values.view(tensor.sizes()));
  }
}

// How far the model's answer to the same pictures is from what torchvision 0.14 says.
double distance(ImageModel& model, const std::vector<double>& expected) {
  fill(model);
  model.eval();
  const torch::NoGradGuard no_gradients;
  const torch::Tensor images = noise(2 * 3 * 64 * 64, 1000).view({2, 3, 64, 64});
  const torch::Tensor scores = model.forward(images.to(torch::kFloat32)).to(torch::kFloat64);
  const torch::Tensor right = torch::tensor(expected, torch::kFloat64).view({2, 4});
  return (scores - right).abs().max().item<double>();
}

TEST(ImageModels, Resnet18SaysWhatTorchvisionSays) {
  EXPECT_LT(
      distance(*make_resnet(ResnetKind::kResnet18, 4),
               {2.650774, 1.320053, -0.270198, 1.170055, 2.604145, 0.956318, 0.172768, 1.20322}),
      1e-4);
}

TEST(ImageModels, Resnet50SaysWhatTorchvisionSays) {
  EXPECT_LT(
      distance(*make_resnet(ResnetKind::kResnet50, 4), {-0.661865, 2.005539, -5.830197, -5.98649,
                                                        -0.446242, 2.125247, -6.051126, -6.150749}),
      1e-4);
}

TEST(ImageModels, MobilenetV3SaysWhatTorchvisionSays) {
  EXPECT_LT(distance(*make_mobilenet_v3_small({.classes = 4}),
                     {-0.085565, 0.025972, -0.076202, 0.075109, -0.085725, 0.025915, -0.076015,
                      0.074851}),
            1e-5);
}

}  // namespace
}  // namespace outlast::trainers
