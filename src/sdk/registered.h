#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sdk/snapshots.h"

namespace outlast::sdk {

std::string_view dtype_name(Dtype dtype);
std::size_t dtype_bytes(Dtype dtype);  // of one element

// "F32 [2, 3]", for a person.
std::string describe(std::string_view dtype, const std::vector<std::uint64_t>& shape);

struct Tensor {
  std::string name = {};
  std::byte* data = nullptr;
  Dtype dtype = Dtype::kU8;
  std::vector<std::uint64_t> shape = {};
  std::uint64_t bytes = 0;
};

struct Blob {
  std::string name = {};
  std::size_t capacity = 0;
  bool is_exact = false;  // it always has as many bytes as it may have
  std::function<std::string()> get = {};
  std::function<void(std::string_view)> set = {};
  std::function<void(std::string_view)> check = {};  // if given, called before all others' set
};

// What a trainer has registered, in the order it did. Every function throws SnapshotError, and
// changes nothing then, if a name is no name or was given already, if memory overlaps with what is
// there, or is none. Confined to its owner.
class Registered {
 public:
  void add(std::string name, void* data, Dtype dtype, std::vector<std::uint64_t> shape);
  void add_blob(Blob blob);
  void add_value(std::string name, void* value, std::size_t bytes);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Blob>& blobs() const { return blobs_; }
  bool has(const std::string& name) const { return names_.count(name) != 0; }
  bool empty() const { return tensors_.empty() && blobs_.empty(); }

 private:
  struct Range {
    std::uintptr_t end = 0;
    std::string name = {};
  };
  void check_name(const std::string& name) const;
  void check_memory(const std::string& name, const void* data, std::uint64_t bytes) const;
  void keep_memory(const std::string& name, const void* data, std::uint64_t bytes);

  std::vector<Tensor> tensors_;
  std::vector<Blob> blobs_;
  std::unordered_set<std::string> names_;
  std::map<std::uintptr_t, Range> ranges_;  // by where they begin; none is empty
};

}  // namespace outlast::sdk
