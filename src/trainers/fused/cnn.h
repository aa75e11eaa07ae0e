#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sys/threads.h"
#include "trainers/fused/aligned_floats.h"
#include "trainers/fused/cnn_layout.h"
#include "trainers/fused/crew.h"
#include "trainers/fused/kernels.h"

namespace outlast::trainers::fused {

struct CnnShape {
  std::size_t channels = 3;  // 1 or 3
  std::size_t classes = 10;  // 2 to kClassesMax
};

// How a batch becomes a step.
struct Update {
  enum class Rule { kSgd, kAdam, kAdamW };
  Rule rule = Rule::kSgd;
  float learning_rate = 0;
  float momentum = 0;  // kSgd
  float weight_decay = 0;
  std::uint64_t step = 1;  // kAdam, kAdamW: this one's number, counted from 1
};

// A small CNN (cnn_layout.h), trained in float32 by code that is made for it alone. What comes out
// depends on what goes in and on nothing else: not on the number of threads, nor on the kind of
// processor. Confined to its owner.
class Cnn {
 public:
  // All parameters are 0. `workers` counts the caller.
  Cnn(const CnnShape& shape, sys::Threads& threads, unsigned workers,
      const Kernels& kernels = best_kernels());

  // Draws the parameters as PyTorch does: uniform within 1 / sqrt(inputs of a neuron).
  void draw_parameters(std::uint64_t seed);

  // The gradients of the batch's mean loss; the loss is their sum.
  BatchResult gradients(const Batch& batch);
  // gradients(), and a step against them.
  BatchResult learn(const Batch& batch, const Update& update);
  // For each picture a logit for each class.
  std::vector<float> infer(const Batch& batch);

  // Flat, as layout() says. Of the two moments SGD uses the first only.
  AlignedFloats& parameters() { return parameters_; }
  const AlignedFloats& parameters() const { return parameters_; }
  AlignedFloats& first_moment() { return first_moment_; }
  AlignedFloats& second_moment() { return second_moment_; }
  // Of the last batch.
  const AlignedFloats& gradient() const { return gradients_.front(); }
  const CnnLayout& layout() const { return layout_; }
  const CnnShape& shape() const { return shape_; }

 private:
  CnnShape shape_;
  CnnLayout layout_;
  const Kernels& kernels_;
  AlignedFloats parameters_;
  AlignedFloats first_moment_;
  AlignedFloats second_moment_;
  std::vector<AlignedFloats> gradients_;  // of each part of a batch; the first is then the sum
  std::vector<AlignedFloats> scratch_;    // of each worker
  Crew crew_;
};

// A tensor of the model under the name and in the shape that PyTorch has for it: where its
// elements are in the flat arrays.
struct CnnTensor {
  std::string name = {};
  std::vector<std::uint64_t> shape = {};
  std::vector<std::uint32_t> places = {};
};
std::vector<CnnTensor> cnn_tensors(const CnnShape& shape);

}  // namespace outlast::trainers::fused
