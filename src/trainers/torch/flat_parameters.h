#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainers/torch/torch_headers.h"

namespace outlast {
class Snapshots;
}

namespace outlast::trainers {

// The parameters of a module in one piece of memory, their gradients in another: the optimizer
// works on the whole at once, and a snapshot has one pointer for each. Confined to its owner.
class FlatParameters {
 public:
  struct Options {
    // Weights of four dimensions lie in memory as channels_last has them.
    bool channels_last = false;
    // Parameters of one group lie side by side, so that a group can be updated alone, or with
    // another weight decay. All are of group 0 unless given. Groups are counted from 0.
    std::function<std::size_t(const std::string&)> group_of = {};
    std::size_t groups = 1;
  };

  // One parameter that can be trained.
  struct Entry {
    std::string name = {};
    torch::Tensor parameter = {};
    std::int64_t offset = 0;  // in elements, in values() and gradients()
    std::size_t group = 0;
  };
  struct Range {
    std::int64_t begin = 0;
    std::int64_t count = 0;
  };

  // Moves every float parameter that requires a gradient now; their values stay. The others, and
  // the buffers, are only registered. The module outlives this and must get no other tensors: to
  // change them is to copy into them. Throws c10::Error as libtorch does.
  FlatParameters(torch::nn::Module& module, const Options& options);

  const torch::Tensor& values() const { return values_; }
  const torch::Tensor& gradients() const { return gradients_; }
  const std::vector<Entry>& entries() const { return entries_; }
  // Where a group's parameters are in values(); between them there may be elements that are 0.
  Range range(std::size_t group) const { return ranges_.at(group); }
  std::size_t groups() const { return ranges_.size(); }
  // Makes the parameters of a group ask for gradients, or not: those of others cost less then.
  // What does not ask must not be updated, which is the caller's to see to.
  void set_trainable(std::size_t group, bool is_trainable);

  // Before every backward pass, which adds to them.
  void zero_gradients();

  // Registers every parameter and buffer of the module as prefix + name. A tensor in channels_last
  // has the shape that it has in memory: out, height, width, in.
  void describe(Snapshots& snapshots, const std::string& prefix) const;
  // The same for another flat tensor with values() size: what an optimizer keeps.
  void describe_like(Snapshots& snapshots, const std::string& prefix,
                     const torch::Tensor& flat) const;

 private:
  torch::nn::Module& module_;
  std::vector<Entry> entries_;
  std::vector<Range> ranges_;
  torch::Tensor values_;
  torch::Tensor gradients_;
};

// Registers a dense tensor under this name, by its memory. Throws SnapshotError as Snapshots does.
void describe_tensor(Snapshots& snapshots, const std::string& name, const torch::Tensor& tensor);

}  // namespace outlast::trainers
