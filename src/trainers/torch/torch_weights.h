#pragma once

#include <string>

#include "base/result.h"
#include "trainers/torch/torch_headers.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {

// All parameters and buffers of a module, under their names, in PyTorch's order of elements
// whatever lies in memory.
Weights weights_of(const torch::nn::Module& module);

struct PutOptions {
  // Tensors whose names begin with this are left as they are if the file has them with other
  // shapes, or not at all: a new head. Empty: none.
  std::string own_prefix = {};
};
// Copies them into the module, wrappers' names and an optimizer's tensors aside (plain_state()).
// Counts of batches may be missing, as old files have none. kInvalidArgument, with what is missing
// or the first tensor that does not fit and both shapes, and nothing changed, if it is another
// model's.
Result<void> put_weights(torch::nn::Module& module, const Weights& weights,
                         const PutOptions& options = {});

}  // namespace outlast::trainers
