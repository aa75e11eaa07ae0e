#pragma once

#include <cstdint>
#include <memory>

#include "trainers/torch/image_model.h"

namespace outlast::trainers {

enum class ResnetKind {
  kResnet18,  // for ImageNet, as torchvision has them
  kResnet50,
  kResnet20,  // for CIFAR, with shortcuts that have no parameters
  kResnet56,
};

// With new weights, drawn from libtorch's generator.
std::shared_ptr<ImageModel> make_resnet(ResnetKind kind, std::int64_t classes);

}  // namespace outlast::trainers
