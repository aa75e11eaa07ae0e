#include "trainers/weights/weight_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "checkpoint/safetensors.h"
#include "sys/file_system.h"
#include "trainers/weights/pth_file.h"
#include "trainers/weights/pth_value.h"
#include "trainers/weights/weight_error.h"
#include "trainers/weights/whole_file.h"

namespace outlast::trainers {
namespace {

// Where safetensors' header must begin.
constexpr std::size_t kHeaderAt = 8;

Result<Weights> parse_safetensors_weights(BytesView file) {
  OUTLAST_TRY_ASSIGN(const checkpoint::Safetensors parsed, checkpoint::parse_safetensors(file));
  Weights weights;
  for (const checkpoint::Tensor& tensor : parsed.tensors) {
    const BytesView data = file.subspan(tensor.begin, tensor.end - tensor.begin);
    weights.tensors.push_back({.name = tensor.name,
                               .dtype = tensor.dtype,
                               .shape = tensor.shape,
                               .data = Bytes(data.begin(), data.end())});
  }
  for (const auto& [key, value] : parsed.metadata) weights.scalars.emplace(key, value);
  return weights;
}

// Keeps those under `prefix`, without it.
void keep_under(std::string_view prefix, Weights& weights) {
  std::erase_if(weights.tensors,
                [&](const WeightTensor& tensor) { return !tensor.name.starts_with(prefix); });
  for (WeightTensor& tensor : weights.tensors) tensor.name.erase(0, prefix.size());
}

// Whether some are under `prefix`, and everything else is what trainers keep beside a model.
bool is_model_under(std::string_view prefix, const Weights& weights) {
  const auto is_under = [&](const WeightTensor& tensor) { return tensor.name.starts_with(prefix); };
  return std::ranges::any_of(weights.tensors, is_under) &&
         std::ranges::all_of(weights.tensors, [&](const WeightTensor& tensor) {
           constexpr std::string_view kBeside[] = {"optim",  "scheduler", "lr_scheduler",
                                                   "scaler", "ema",       "rng"};
           return is_under(tensor) || std::ranges::any_of(kBeside, [&](std::string_view beside) {
                    return tensor.name.starts_with(beside);
                  });
         });
}

}  // namespace

const WeightTensor* Weights::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &WeightTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

Result<Weights> parse_weights(BytesView file) {
  // First, as the length that safetensors begin with could be the first bytes of the others.
  const bool braced = file.size() > kHeaderAt && file[kHeaderAt] == std::byte{'{'};
  if (checkpoint::may_be_safetensors(file.first(std::min(file.size(), kHeaderAt + 1)),
                                     file.size())) {
    return parse_safetensors_weights(file);
  }
  if (may_be_pth(file)) {
    OUTLAST_TRY_ASSIGN(PthValue value, parse_pth(file));
    return flat_weights(std::move(value), file.size());
  }
  if (braced) return parse_safetensors_weights(file);  // for its error
  return bad_weights(fmt::format(
      "{} bytes that begin with \"{}\" (in hex) are neither safetensors nor a .pth file of PyTorch",
      file.size(), hex_encode(file.first(std::min(file.size(), kHeaderAt)))));
}

Result<Weights> read_weights(sys::FileSystem& files, const std::string& path) {
  return with_file_bytes(files, path, parse_weights).while_doing("read weights of " + path);
}

Result<void> write_safetensors(sys::FileSystem& files, const std::string& path,
                               const Weights& weights,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<checkpoint::TensorBytes> tensors;
  tensors.reserve(weights.tensors.size());
  for (const WeightTensor& tensor : weights.tensors) {
    tensors.push_back(
        {.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape, .bytes = tensor.data});
  }
  auto plan = checkpoint::plan_safetensors(tensors, metadata);
  if (!plan) return plan.error().while_doing("write weights to " + path);
  std::vector<BytesView> pieces = {plan->header};
  for (const checkpoint::TensorBytes* tensor : plan->order) pieces.push_back(tensor->bytes);
  return write_whole(files, path, pieces).while_doing("write weights to " + path);
}

Weights plain_state(Weights weights) {
  for (const std::string_view around : {"state_dict.", "model_state_dict."}) {
    const bool here = std::ranges::any_of(weights.tensors, [&](const WeightTensor& tensor) {
      return tensor.name.starts_with(around);
    });
    if (here) keep_under(around, weights);
  }
  for (const std::string_view around : {"model.", "module."}) {
    if (is_model_under(around, weights)) keep_under(around, weights);
  }
  return weights;
}

}  // namespace outlast::trainers
