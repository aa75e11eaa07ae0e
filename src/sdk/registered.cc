#include "sdk/registered.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/snapshots.h"
#include "sdk/tiny_json.h"

namespace outlast::sdk {
namespace {

// What a header of a snapshot uses for itself.
constexpr std::string_view kMetadataName = "__metadata__";

std::uintptr_t address_of(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data);
}

std::uint64_t bytes_of(const std::string& name, Dtype dtype,
                       const std::vector<std::uint64_t>& shape) {
  // A length of 0 anywhere makes it empty, whatever the others are.
  for (const std::uint64_t length : shape) {
    if (length == 0) return 0;
  }
  std::uint64_t bytes = dtype_bytes(dtype);
  for (const std::uint64_t length : shape) {
    if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / bytes) {
      throw SnapshotError("'" + name + "' " + describe(dtype_name(dtype), shape) +
                          " is larger than any memory: look at its shape");
    }
    bytes *= length;
  }
  return bytes;
}

}  // namespace

std::string_view dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool:
      return "BOOL";
    case Dtype::kU8:
      return "U8";
    case Dtype::kI8:
      return "I8";
    case Dtype::kI16:
      return "I16";
    case Dtype::kU16:
      return "U16";
    case Dtype::kF16:
      return "F16";
    case Dtype::kBF16:
      return "BF16";
    case Dtype::kI32:
      return "I32";
    case Dtype::kU32:
      return "U32";
    case Dtype::kF32:
      return "F32";
    case Dtype::kF64:
      return "F64";
    case Dtype::kI64:
      return "I64";
    case Dtype::kU64:
      return "U64";
  }
  return "";
}

std::size_t dtype_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool:
    case Dtype::kU8:
    case Dtype::kI8:
      return 1;
    case Dtype::kI16:
    case Dtype::kU16:
    case Dtype::kF16:
    case Dtype::kBF16:
      return 2;
    case Dtype::kI32:
    case Dtype::kU32:
    case Dtype::kF32:
      return 4;
    case Dtype::kF64:
    case Dtype::kI64:
    case Dtype::kU64:
      return 8;
  }
  return 1;
}

std::string describe(std::string_view dtype, const std::vector<std::uint64_t>& shape) {
  std::string text(dtype);
  text += " [";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

void Registered::check_name(const std::string& name) const {
  if (name.empty()) throw SnapshotError("a tensor or blob without a name: give it one");
  if (!is_utf8(name)) {
    throw SnapshotError("a name of a tensor or blob is not UTF-8 (it is no. " +
                        std::to_string(names_.size() + 1) + "): write it in UTF-8");
  }
  if (name == kMetadataName) {
    throw SnapshotError("'" + name + "' is no name for a tensor or blob: take another");
  }
  if (has(name)) {
    throw SnapshotError("'" + name + "' is registered twice: names are unique in a snapshot");
  }
}

void Registered::check_memory(const std::string& name, const void* data,
                              std::uint64_t bytes) const {
  if (bytes == 0) return;
  if (data == nullptr) {
    throw SnapshotError("'" + name + "' has " + std::to_string(bytes) +
                        " bytes, but no memory: its address is null");
  }
  const std::uintptr_t begin = address_of(data);
  // No program has memory in the upper half.
  if (bytes > std::numeric_limits<std::uintptr_t>::max() / 2 - begin) {
    throw SnapshotError("'" + name + "' is larger than any memory: look at its shape");
  }
  const auto after = ranges_.upper_bound(begin);
  const Range* other = nullptr;
  if (after != ranges_.end() && after->first < begin + bytes) other = &after->second;
  if (after != ranges_.begin() && std::prev(after)->second.end > begin) {
    other = &std::prev(after)->second;
  }
  if (other == nullptr) return;
  throw SnapshotError("'" + name + "' and '" + other->name +
                      "' overlap in memory: register what they share once");
}

void Registered::keep_memory(const std::string& name, const void* data, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uintptr_t begin = address_of(data);
  ranges_.emplace(begin, Range{.end = begin + bytes, .name = name});
}

void Registered::add(std::string name, void* data, Dtype dtype, std::vector<std::uint64_t> shape) {
  check_name(name);
  const std::uint64_t bytes = bytes_of(name, dtype, shape);
  check_memory(name, data, bytes);
  keep_memory(name, data, bytes);
  names_.insert(name);
  tensors_.push_back({.name = std::move(name),
                      .data = static_cast<std::byte*>(data),
                      .dtype = dtype,
                      .shape = std::move(shape),
                      .bytes = bytes});
}

void Registered::add_blob(Blob blob) {
  check_name(blob.name);
  if (!blob.get || !blob.set) {
    throw SnapshotError("blob '" + blob.name + "' needs both functions: get and set");
  }
  names_.insert(blob.name);
  blobs_.push_back(std::move(blob));
}

void Registered::add_value(std::string name, void* value, std::size_t bytes) {
  check_name(name);
  check_memory(name, value, bytes);
  keep_memory(name, value, bytes);
  add_blob({.name = std::move(name),
            .capacity = bytes,
            .is_exact = true,
            .get = [value, bytes] { return std::string(static_cast<const char*>(value), bytes); },
            .set =
                [value, bytes](std::string_view found) {
                  std::memcpy(value, found.data(), std::min(bytes, found.size()));
                }});
}

}  // namespace outlast::sdk
