#pragma once

#include <cstdint>
#include <memory>

#include "trainers/torch/image_model.h"

namespace outlast::trainers {

struct MobilenetOptions {
  std::int64_t classes = 1000;
  double dropout = 0.2;
  // How much of its statistics a batch puts into the running ones. torchvision's 0.01 is for many
  // steps: after a few hundred the running ones, which evaluation uses, are still far off.
  double norm_momentum = 0.01;
};

// MobileNetV3-Small as torchvision has it, with new weights, drawn from libtorch's generator.
std::shared_ptr<ImageModel> make_mobilenet_v3_small(const MobilenetOptions& options);

}  // namespace outlast::trainers
