#include "trainers/weights/torch_types.h"

#include <optional>
#include <string_view>

#include "checkpoint/safetensors.h"

namespace outlast::trainers {
namespace {

using checkpoint::Dtype;

struct TypeRow {
  Dtype dtype;
  std::string_view storage;  // with its module
  std::string_view name;
};

// Types that came after storages had lost theirs have no class of storage.
constexpr TypeRow kTypes[] = {
    {Dtype::kF32, "torch.FloatStorage", "torch.float32"},
    {Dtype::kF64, "torch.DoubleStorage", "torch.float64"},
    {Dtype::kF16, "torch.HalfStorage", "torch.float16"},
    {Dtype::kBF16, "torch.BFloat16Storage", "torch.bfloat16"},
    {Dtype::kI64, "torch.LongStorage", "torch.int64"},
    {Dtype::kI32, "torch.IntStorage", "torch.int32"},
    {Dtype::kI16, "torch.ShortStorage", "torch.int16"},
    {Dtype::kI8, "torch.CharStorage", "torch.int8"},
    {Dtype::kU8, "torch.ByteStorage", "torch.uint8"},
    {Dtype::kBool, "torch.BoolStorage", "torch.bool"},
    {Dtype::kC64, "torch.ComplexFloatStorage", "torch.complex64"},
    {Dtype::kU16, "", "torch.uint16"},
    {Dtype::kU32, "", "torch.uint32"},
    {Dtype::kU64, "", "torch.uint64"},
    {Dtype::kF8E5M2, "", "torch.float8_e5m2"},
    {Dtype::kF8E4M3, "", "torch.float8_e4m3fn"},
    {Dtype::kF8E8M0, "", "torch.float8_e8m0fnu"},
    {Dtype::kF8E4M3FNUZ, "", "torch.float8_e4m3fnuz"},
    {Dtype::kF8E5M2FNUZ, "", "torch.float8_e5m2fnuz"},
};

// "torch.storage" also stands for classes that "torch" has under the same name. Python 2 wrote
// __builtin__, and protocol 2 of Python 3 writes it still.
constexpr TorchGlobal kGlobals[] = {
    {"collections.OrderedDict", TorchRole::kOrderedDict},
    {"collections.Counter", TorchRole::kCounter},
    {"__builtin__.set", TorchRole::kSet},
    {"builtins.set", TorchRole::kSet},
    {"torch.Size", TorchRole::kSize},
    {"torch.device", TorchRole::kDevice},
    {"torch._utils._rebuild_tensor", TorchRole::kRebuildTensor},
    {"torch._utils._rebuild_tensor_v2", TorchRole::kRebuildTensor},
    {"torch._utils._rebuild_tensor_v3", TorchRole::kRebuildTensorV3},
    {"torch._utils._rebuild_parameter", TorchRole::kRebuildParameter},
    {"torch._utils._rebuild_parameter_with_state", TorchRole::kRebuildParameter},
    {"torch.storage.UntypedStorage", TorchRole::kUntypedStorage},
    {"torch.UntypedStorage", TorchRole::kUntypedStorage},
    // Known, so that the refusal can name the type and the tensor instead of a call.
    {"torch.ComplexDoubleStorage", TorchRole::kStorage},
    {"torch.QInt8Storage", TorchRole::kStorage},
    {"torch.QUInt8Storage", TorchRole::kStorage},
    {"torch.QInt32Storage", TorchRole::kStorage},
    {"torch.QUInt4x2Storage", TorchRole::kStorage},
    {"torch.QUInt2x4Storage", TorchRole::kStorage},
    {"torch.complex128", TorchRole::kDtype},
    {"torch.complex32", TorchRole::kDtype},
};

bool is_called(std::string_view whole, const PythonName& python) {
  return whole.size() == python.module.size() + 1 + python.name.size() &&
         whole.starts_with(python.module) && whole[python.module.size()] == '.' &&
         whole.ends_with(python.name);
}

}  // namespace

std::optional<TorchGlobal> find_torch_global(const PythonName& python) {
  for (const TorchGlobal& global : kGlobals) {
    if (is_called(global.name, python)) return global;
  }
  for (const TypeRow& row : kTypes) {
    if (is_called(row.storage, python)) {
      return TorchGlobal{.name = row.storage, .role = TorchRole::kStorage, .dtype = row.dtype};
    }
    if (is_called(row.name, python)) {
      return TorchGlobal{.name = row.name, .role = TorchRole::kDtype, .dtype = row.dtype};
    }
  }
  return std::nullopt;
}

std::optional<TorchType> torch_type(checkpoint::Dtype dtype) {
  constexpr std::string_view kModule = "torch.";
  for (const TypeRow& row : kTypes) {
    if (row.dtype != dtype) continue;
    TorchType type = {.storage = row.storage, .dtype = row.name.substr(kModule.size())};
    if (!type.storage.empty()) type.storage.remove_prefix(kModule.size());
    return type;
  }
  return std::nullopt;
}

}  // namespace outlast::trainers
