#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "trainers/weights/weight_file.h"

// What PyTorch's files hold: a tree of dictionaries and lists with tensors and numbers in it, as
// trainers save their checkpoints: {"epoch": 3, "model_state_dict": {…}, "loss": 0.5}.
namespace outlast::trainers {

struct PthValue;
struct PthEntry;

struct PthList {
  std::vector<PthValue> items;
  bool is_tuple = false;  // Python has two kinds

  friend bool operator==(const PthList& a, const PthList& b);
};

using PthKey = std::variant<std::string, std::int64_t>;

struct PthDict {
  std::vector<PthEntry> entries;  // in their order; no key twice

  // nullptr if there is none.
  const PthValue* find(std::string_view key) const;
  void add(std::string key, PthValue value);

  friend bool operator==(const PthDict& a, const PthDict& b);
};

// monostate is Python's None. A tensor has no name in here: its place says what it is.
struct PthValue {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, PthList, PthDict,
               WeightTensor>
      value;

  friend bool operator==(const PthValue& a, const PthValue& b);
};

struct PthEntry {
  PthKey key;
  PthValue value;

  friend bool operator==(const PthEntry& a, const PthEntry& b);
};

// All of the tree by the way to each: keys and the numbers of items, joined by '.'. What is None is
// left out. kCorrupt if two would have one name, or the names would take far more memory than the
// `file_bytes` that they came from.
Result<Weights> flat_weights(PthValue value, std::uint64_t file_bytes);

}  // namespace outlast::trainers
