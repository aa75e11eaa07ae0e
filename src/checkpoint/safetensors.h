#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "sys/file_system.h"

// The safetensors file format: the length of a header as 8 bytes, the header in JSON, which says
// where in the rest each tensor lies, and the tensors, side by side without a gap.
namespace outlast::checkpoint {

enum class Dtype {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3FNUZ,
  kF8E5M2FNUZ,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64,
};
// "F32", "BF16", "F8_E4M3", …: as in the file.
std::string_view to_string(Dtype dtype);
std::optional<Dtype> parse_dtype(std::string_view name);
// Of one element; less than 8 for kF4 and kF6…, of which only whole bytes can be stored.
unsigned bits_of(Dtype dtype);
// Of the numbers that an element is made of, in bytes, as Codec::choose() takes it: 4 for kC64,
// which are two; 1 if they have no more than a byte.
unsigned width_of(Dtype dtype);

struct Tensor {
  std::string name = {};
  Dtype dtype = Dtype::kU8;
  std::vector<std::uint64_t> shape = {};  // empty: one element
  std::uint64_t begin = 0;                // in the file
  std::uint64_t end = 0;

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

struct Safetensors {
  std::uint64_t data_begin = 0;      // where the header ends
  std::uint64_t size = 0;            // of the file
  std::vector<Tensor> tensors = {};  // in the order of their bytes
  std::map<std::string, std::string> metadata = {};

  friend bool operator==(const Safetensors&, const Safetensors&) = default;
};

inline constexpr std::uint64_t kSafetensorsHeaderMax = 100'000'000;  // the format's own limit

// Whether a file of this size that begins so can be one: a glance that spares others the reading.
inline constexpr std::size_t kSafetensorsGlance = 9;  // the bytes that it wants
bool may_be_safetensors(BytesView beginning, std::uint64_t size);

// What the header says, checked against the size of the file: every byte of the data belongs to
// exactly one tensor, and each has the bytes that its shape and dtype need. kCorrupt, with what is
// wrong, if not. Bounded by the size of the header, whatever it says.
Result<Safetensors> parse_safetensors(BytesView file);
// The same from the first bytes of a file of this size, which must reach to the end of the header.
Result<Safetensors> parse_safetensors(BytesView beginning, std::uint64_t size);
Result<Safetensors> read_safetensors(sys::File& file);

// What is to be written. The bytes must outlive the writing.
struct TensorBytes {
  std::string name = {};
  Dtype dtype = Dtype::kU8;
  std::vector<std::uint64_t> shape = {};
  BytesView bytes = {};
};

// Writes a whole file, from its beginning; syncing it is the caller's. Tensors with wider elements
// come first, so that each lies at a multiple of its width. kInvalidArgument if a name is there
// twice or is not UTF-8, or a shape does not fit its bytes.
Result<void> write_safetensors(sys::File& file, const std::vector<TensorBytes>& tensors,
                               const std::map<std::string, std::string>& metadata);
// The file's first bytes, up to where the first tensor begins, and the tensors in their order
// there.
struct SafetensorsPlan {
  Bytes header = {};
  std::vector<const TensorBytes*> order = {};  // of the argument
};
Result<SafetensorsPlan> plan_safetensors(const std::vector<TensorBytes>& tensors,
                                         const std::map<std::string, std::string>& metadata);

}  // namespace outlast::checkpoint
