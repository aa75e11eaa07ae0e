#include "trainers/torch/image_model.h"

#include <torch/nn/init.h>

namespace outlast::trainers {

Convolution make_conv(const ConvShape& shape) {
  return Convolution(torch::nn::Conv2dOptions(shape.in, shape.out, shape.kernel)
                         .stride(shape.stride)
                         .padding((shape.kernel - 1) / 2)
                         .groups(shape.groups)
                         .bias(shape.has_bias));
}

void fill_by_outputs(torch::nn::Module& module) {
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (auto* conv = child->as<Convolution>()) {
      torch::nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
      if (conv->bias.defined()) torch::nn::init::zeros_(conv->bias);
    }
  }
}

}  // namespace outlast::trainers
