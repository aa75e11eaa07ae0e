#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/encoding.h"
#include "base/result.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/pickle_reader.h"
#include "trainers/weights/weight_file.h"

// From what a pickle says of a tensor (a storage, an offset in it, a shape and strides) to the
// tensor.
namespace outlast::trainers {

// The memory that several tensors may lie in, as a pickle refers to it.
struct StorageRef {
  std::string_view key = {};
  std::optional<checkpoint::Dtype> dtype = {};  // none: bytes
  std::uint64_t elements = 0;                   // of the whole storage
  // The part that is meant: old files have views of storages.
  std::uint64_t part_begin = 0;
  std::uint64_t part_elements = 0;

  // Of one element.
  std::uint64_t element_bytes() const;
};

// What a node of kStorage means. kCorrupt if it is none, of an unknown dtype, or its size is beyond
// any file.
Result<StorageRef> storage_ref(const Pickle& pickle, const PickleNode& storage);

// All bytes of a storage in the file: at least elements × element_bytes(), or an error.
using FindStorage = std::function<Result<BytesView>(const StorageRef& storage)>;

// The tensor that a node of kTensor means, without a name. kCorrupt if its storage is too small for
// it, or it needs more bytes than `*bytes_left`, from which its own are taken: views can repeat
// elements of a small file without end.
Result<WeightTensor> make_tensor(const Pickle& pickle, const PickleNode& tensor,
                                 const FindStorage& find, std::uint64_t* bytes_left);

}  // namespace outlast::trainers
