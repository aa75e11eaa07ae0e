#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {

// A tensor that a model has.
struct WantedTensor {
  std::string name = {};
  std::vector<std::uint64_t> shape = {};
  checkpoint::Dtype dtype = checkpoint::Dtype::kF32;
};

// Whether these are exactly the tensors that a model wants, in any order. kInvalidArgument if not:
// the names that are missing and those that nobody wants, or else the first tensor of `wanted` that
// has another shape or dtype, with both.
Result<void> match(const Weights& have, const std::vector<WantedTensor>& wanted);

}  // namespace outlast::trainers
