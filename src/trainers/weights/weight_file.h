#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "checkpoint/safetensors.h"
#include "sys/file_system.h"

// Files of weights, in the formats that others write: safetensors and PyTorch's .pth. Without
// PyTorch, and without running anything that a file wants run.
namespace outlast::trainers {

// Elements side by side in the order of their indices (the last one runs fastest), each with its
// least significant byte first.
struct WeightTensor {
  std::string name = {};
  checkpoint::Dtype dtype = checkpoint::Dtype::kF32;
  std::vector<std::uint64_t> shape = {};  // empty: one element
  Bytes data = {};

  friend bool operator==(const WeightTensor&, const WeightTensor&) = default;
};

using WeightScalar = std::variant<bool, std::int64_t, double, std::string>;

// What a file of weights holds, flat: what lies in dictionaries and lists within others is called
// by the way to it, "optimizer_state_dict.state.0.exp_avg".
struct Weights {
  std::vector<WeightTensor> tensors = {};            // in the file's order; no name twice
  std::map<std::string, WeightScalar> scalars = {};  // all that is no tensor: epoch, loss, …

  // nullptr if there is none; looks through all of them.
  const WeightTensor* find(std::string_view name) const;

  friend bool operator==(const Weights&, const Weights&) = default;
};

// Reads a file of any of the formats that are known here, which its content tells, not its name:
// safetensors (its metadata become scalars), PyTorch's zip files, and what PyTorch wrote before
// version 1.6. kCorrupt, with what is wrong and where, if it is none of them or not sound. The
// file must not be made shorter meanwhile. Memory is a small multiple of the file, whatever it
// says.
Result<Weights> read_weights(sys::FileSystem& files, const std::string& path);
// The same from its bytes.
Result<Weights> parse_weights(BytesView file);

// Writes the file whole or not at all, durably. The scalars are not written: `metadata` is what
// the format has for them. kInvalidArgument if a name is there twice or a shape does not fit.
Result<void> write_safetensors(sys::FileSystem& files, const std::string& path,
                               const Weights& weights,
                               const std::map<std::string, std::string>& metadata);

// Without what checkpoints and wrappers put around a model's own names, if there is any:
// "state_dict.module.conv1.weight" becomes "conv1.weight", and what lies beside the model, as an
// optimizer's tensors, is left out. The scalars stay as they are.
Weights plain_state(Weights weights);

}  // namespace outlast::trainers
