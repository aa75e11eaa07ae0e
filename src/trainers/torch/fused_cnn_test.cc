#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "sys/posix_world.h"
#include "trainers/fused/cnn.h"
#include "trainers/torch/torch_headers.h"

// The CNN in code of its own, beside the same in libtorch.
namespace outlast::trainers {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;

Tensors in_torch(const fused::AlignedFloats& floats, const fused::CnnShape& shape) {
  Tensors tensors;
  for (const fused::CnnTensor& tensor : fused::cnn_tensors(shape)) {
    std::vector<float> values;
    for (const std::uint32_t place : tensor.places) values.push_back(floats.data()[place]);
    const std::vector<std::int64_t> sizes(tensor.shape.begin(), tensor.shape.end());
    tensors[tensor.name] = torch::tensor(values).reshape(sizes).requires_grad_();
  }
  return tensors;
}

torch::Tensor forward(const Tensors& with, torch::Tensor x) {
  const auto part = [&](const std::string& name) { return with.at(name); };
  x = torch::max_pool2d(torch::relu(torch::conv2d(x, part("conv1.weight"), part("conv1.bias"))), 2);
  x = torch::max_pool2d(torch::relu(torch::conv2d(x, part("conv2.weight"), part("conv2.bias"))), 2);
  x = torch::flatten(x, 1);
  x = torch::relu(torch::linear(x, part("fc1.weight"), part("fc1.bias")));
  x = torch::relu(torch::linear(x, part("fc2.weight"), part("fc2.bias")));
  return torch::linear(x, part("fc3.weight"), part("fc3.bias"));
}

TEST(FusedCnnBesideLibtorch, HasItsLossAndItsGradients) {
  const fused::CnnShape shape;
  constexpr std::size_t kCount = 37;  // of two parts, and of a group that is not full
  sys::RealWorld real;
  fused::Cnn cnn(shape, real.world().threads, 2);
  cnn.draw_parameters(11);
  Random random(12);
  std::vector<std::uint8_t> bytes(kCount * 3072);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  std::vector<std::uint16_t> labels;
  std::vector<const std::uint8_t*> pictures;
  for (std::size_t i = 0; i < kCount; ++i) {
    labels.push_back(static_cast<std::uint16_t>(random.below(10)));
    pictures.push_back(bytes.data() + i * 3072);
  }
  const fused::BatchResult result = cnn.gradients(
      {.pictures = pictures.data(), .labels = labels.data(), .count = kCount, .channels = 3});

  const Tensors model = in_torch(cnn.parameters(), shape);
  const torch::Tensor input =
      torch::from_blob(bytes.data(), {kCount, 3, 32, 32}, torch::kUInt8).to(torch::kFloat32) / 255;
  const std::vector<std::int64_t> wanted(labels.begin(), labels.end());
  const torch::Tensor loss =
      torch::cross_entropy_loss(forward(model, (input - 0.5) / 0.5), torch::tensor(wanted));
  loss.backward();
  EXPECT_NEAR(result.loss / kCount, loss.item<double>(), 1e-6);
  for (const auto& [name, gradient] : in_torch(cnn.gradient(), shape)) {
    const torch::Tensor reference = model.at(name).grad();
    const double largest = reference.abs().max().item<double>();
    const double error = (gradient.detach() - reference).abs().max().item<double>();
    EXPECT_GT(largest, 0) << name;
    EXPECT_LT(error, 1e-4 * largest) << name;
  }
}

}  // namespace
}  // namespace outlast::trainers
