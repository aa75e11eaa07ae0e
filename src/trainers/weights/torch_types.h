#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "checkpoint/safetensors.h"

// What PyTorch calls the types of elements, and the few names of Python that a file of tensors may
// use. Everything else that a pickle names is refused.
namespace outlast::trainers {

enum class TorchRole : std::uint8_t {
  kOrderedDict,
  kCounter,           // a dictionary of counts: schedulers have them
  kSet,               // read as a list
  kSize,              // a tuple
  kDevice,            // read as its text
  kRebuildTensor,     // storage, offset, shape, stride, …
  kRebuildTensorV3,   // the same, and the type of its elements; its storage has none
  kRebuildParameter,  // a tensor, and what else a parameter has
  kStorage,           // of elements of one type
  kUntypedStorage,    // of bytes
  kDtype,
};

struct TorchGlobal {
  std::string_view name = {};  // "torch.FloatStorage"; lives for ever
  TorchRole role = TorchRole::kOrderedDict;
  std::optional<checkpoint::Dtype> dtype = {};  // of kStorage and kDtype, if we know it
};

// What `module` `name` is; nullopt if no file of tensors needs it.
struct PythonName {
  std::string_view module = {};
  std::string_view name = {};
};
std::optional<TorchGlobal> find_torch_global(const PythonName& python);

// How PyTorch writes tensors of a type. nullopt for those that it does not have.
struct TorchType {
  std::string_view storage = {};  // the class, in module "torch"; empty: an untyped storage
  std::string_view dtype = {};    // in module "torch"
};
std::optional<TorchType> torch_type(checkpoint::Dtype dtype);

}  // namespace outlast::trainers
