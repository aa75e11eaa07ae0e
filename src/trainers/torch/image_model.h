#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trainers/torch/convolution.h"
#include "trainers/torch/torch_headers.h"

namespace outlast::trainers {

// A network that tells the class of pictures. Its parameters and buffers have the names that
// PyTorch's own model has.
class ImageModel : public torch::nn::Module {
 public:
  // (N, channels, height, width) to (N, classes), before any softmax.
  virtual torch::Tensor forward(torch::Tensor images) = 0;
  // What the names of the last layer's parameters begin with: "fc.".
  virtual std::string head_prefix() const = 0;
};

// A convolution that keeps the size at stride 1, as most do.
struct ConvShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  bool has_bias = false;
};
Convolution make_conv(const ConvShape& shape);

// For convolutions before a ReLU: normally distributed, by how many outputs a weight has.
void fill_by_outputs(torch::nn::Module& module);

}  // namespace outlast::trainers
