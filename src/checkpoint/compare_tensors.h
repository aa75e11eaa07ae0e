#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "checkpoint/compare.h"
#include "checkpoint/item_reader.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/safetensors.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {

// What the header of a safetensors file says; nullopt if it is no sound one. Reads little more.
Result<std::optional<Safetensors>> read_tensors(ItemReader& reader, const sys::CallContext& ctx);

struct TensorChange {
  std::optional<Tensor> before = {};  // nullopt: it was added
  std::optional<Tensor> after = {};   // nullopt: it was removed
  bool type_differs = false;          // dtype or shape
  bool values_differ = false;         // only if the type is the same
};

// Which tensors make the difference, in the order of their names; nullopt unless both are sound
// safetensors files. Reads the headers, and of the rest only what the chunks' names leave open.
Result<std::optional<std::vector<TensorChange>>> compare_tensors(const ReaderParts& parts,
                                                                 const ItemChange& change,
                                                                 const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
