#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "trainers/torch/bert_shape.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {

// Weights of a new model, as its authors begin: matrices about 0 with a deviation of 0.02, norms 1,
// biases 0. The same on every machine.
void begin_bert(const std::vector<BertParameter>& parameters, std::uint64_t seed, float* values);

// Under the names of bert_parameters().
Weights bert_weights(const std::vector<BertParameter>& parameters, const float* values);

struct BertLoading {
  // Whether a file may lack the classifier and the pooler, as those do that were trained to guess
  // words: they stay as they are.
  bool may_lack_head = true;
};
// Puts a file's weights in place, whatever precision they have; entries of other heads are passed
// over. kInvalidArgument, and nothing changed, for the first that is missing, that this model has
// not, or that has another shape, with both.
Result<void> load_bert(const std::vector<BertParameter>& parameters, const Weights& weights,
                       const BertLoading& loading, float* values);

}  // namespace outlast::trainers
