#pragma once

#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "trainers/weights/pth_value.h"
#include "trainers/weights/weight_file.h"

// Values as Python's pickles: what torch.save() puts into "data.pkl".
namespace outlast::trainers {

struct PickledValue {
  Bytes pickle = {};
  // Each is the storage whose key is its number here. They are those of the argument.
  std::vector<const WeightTensor*> tensors = {};
};

// kInvalidArgument if a text is not UTF-8, a key is there twice, a shape does not fit its bytes, or
// PyTorch has no such dtype.
Result<PickledValue> pickle_value(const PthValue& value);
// As an ordered dictionary from names to tensors; not the scalars.
Result<PickledValue> pickle_value(const Weights& weights);

}  // namespace outlast::trainers
