#include "trainers/torch/torch_weights.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "checkpoint/safetensors.h"
#include "trainers/weights/weight_match.h"

namespace outlast::trainers {

namespace {

checkpoint::Dtype dtype_in_file(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat64:
      return checkpoint::Dtype::kF64;
    case torch::kInt64:
      return checkpoint::Dtype::kI64;
    default:
      OUTLAST_CHECK(tensor.scalar_type() == torch::kFloat32, "a tensor of {}",
                    c10::toString(tensor.scalar_type()));
      return checkpoint::Dtype::kF32;
  }
}

std::vector<std::uint64_t> shape_of(const torch::Tensor& tensor) {
  std::vector<std::uint64_t> shape;
  for (const std::int64_t size : tensor.sizes()) shape.push_back(static_cast<std::uint64_t>(size));
  return shape;
}

// By name: no name is there twice.
std::map<std::string, torch::Tensor> tensors_of(const torch::nn::Module& module) {
  std::map<std::string, torch::Tensor> tensors;
  for (const auto& item : module.named_parameters()) tensors[item.key()] = item.value().detach();
  for (const auto& item : module.named_buffers()) tensors[item.key()] = item.value();
  return tensors;
}

}  // namespace

Weights weights_of(const torch::nn::Module& module) {
  Weights weights;
  for (const auto& [name, tensor] : tensors_of(module)) {
    const torch::Tensor dense = tensor.contiguous();
    WeightTensor& written = weights.tensors.emplace_back();
    written.name = name;
    written.dtype = dtype_in_file(tensor);
    written.shape = shape_of(tensor);
    written.data.resize(dense.nbytes());
    std::memcpy(written.data.data(), dense.data_ptr(), dense.nbytes());
  }
  return weights;
}

Result<void> put_weights(torch::nn::Module& module, const Weights& weights,
                         const PutOptions& options) {
  Weights given = plain_state(weights);
  std::map<std::string, torch::Tensor> own = tensors_of(module);
  std::vector<WantedTensor> wanted;
  for (auto tensor = own.begin(); tensor != own.end();) {
    const std::string& name = tensor->first;
    const WeightTensor* found = given.find(name);
    const bool is_own = !options.own_prefix.empty() && name.starts_with(options.own_prefix) &&
                        (found == nullptr || found->shape != shape_of(tensor->second));
    const bool is_count = found == nullptr && name.ends_with("num_batches_tracked");
    if (is_own || is_count) {
      std::erase_if(given.tensors, [&name](const WeightTensor& one) { return one.name == name; });
      tensor = own.erase(tensor);
      continue;
    }
    wanted.push_back(
        {.name = name, .shape = shape_of(tensor->second), .dtype = dtype_in_file(tensor->second)});
    ++tensor;
  }
  OUTLAST_TRY(match(given, wanted));
  const torch::NoGradGuard no_gradients;
  for (WeightTensor& from : given.tensors) {
    torch::Tensor& to = own.at(from.name);
    to.copy_(torch::from_blob(from.data.data(), to.sizes(), to.scalar_type()));
  }
  return {};
}

}  // namespace outlast::trainers
