#include "trainers/torch/flat_parameters.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sdk/snapshots.h"

namespace outlast::trainers {

namespace {

// Parameters begin at multiples of 64 bytes, as memory of libtorch itself does.
constexpr std::int64_t kAlignment = 16;

// A part of `flat` in the shape of `like`.
torch::Tensor view_of(const torch::Tensor& flat, const FlatParameters::Entry& entry,
                      bool channels_last) {
  const torch::Tensor part = flat.narrow(0, entry.offset, entry.parameter.numel());
  const auto sizes = entry.parameter.sizes();
  if (!channels_last || sizes.size() != 4) return part.view(sizes);
  return part.view({sizes[0], sizes[2], sizes[3], sizes[1]}).permute({0, 3, 1, 2});
}

Dtype dtype_of_tensor(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kFloat64:
      return Dtype::kF64;
    case torch::kInt64:
      return Dtype::kI64;
    case torch::kInt32:
      return Dtype::kI32;
    case torch::kUInt8:
      return Dtype::kU8;
    case torch::kBool:
      return Dtype::kBool;
    default:
      OUTLAST_CHECK(tensor.scalar_type() == torch::kFloat32, "a tensor of {}",
                    c10::toString(tensor.scalar_type()));
      return Dtype::kF32;
  }
}

}  // namespace

FlatParameters::FlatParameters(torch::nn::Module& module, const Options& options)
    : module_(module) {
  for (const auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    const std::size_t group = options.group_of ? options.group_of(item.key()) : 0;
    OUTLAST_CHECK(group < options.groups, "group {} of {}", group, options.groups);
    entries_.push_back(
        {.name = item.key(), .parameter = item.value(), .offset = 0, .group = group});
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.group < b.group; });
  ranges_.resize(options.groups);
  std::int64_t end = 0;
  auto entry = entries_.begin();
  for (std::size_t group = 0; group < ranges_.size(); ++group) {
    ranges_[group].begin = end;
    for (; entry != entries_.end() && entry->group == group; ++entry) {
      entry->offset = end;
      end += (entry->parameter.numel() + kAlignment - 1) / kAlignment * kAlignment;
    }
    ranges_[group].count = end - ranges_[group].begin;
  }
  values_ = torch::zeros({end}, torch::kFloat32);
  gradients_ = torch::zeros({end}, torch::kFloat32);
  const torch::NoGradGuard no_gradients;
  for (Entry& moved : entries_) {
    const torch::Tensor place = view_of(values_, moved, options.channels_last);
    place.copy_(moved.parameter);
    moved.parameter.set_data(place);
    moved.parameter.mutable_grad() = view_of(gradients_, moved, options.channels_last);
  }
}

void FlatParameters::set_trainable(std::size_t group, bool is_trainable) {
  for (Entry& entry : entries_) {
    if (entry.group == group) entry.parameter.set_requires_grad(is_trainable);
  }
}

void FlatParameters::zero_gradients() {
  gradients_.zero_();
}

void FlatParameters::describe(Snapshots& snapshots, const std::string& prefix) const {
  for (const auto& item : module_.named_parameters()) {
    describe_tensor(snapshots, prefix + item.key(), item.value());
  }
  for (const auto& item : module_.named_buffers()) {
    describe_tensor(snapshots, prefix + item.key(), item.value());
  }
}

void FlatParameters::describe_like(Snapshots& snapshots, const std::string& prefix,
                                   const torch::Tensor& flat) const {
  OUTLAST_CHECK(flat.numel() == values_.numel(), "{} instead of {} elements", flat.numel(),
                values_.numel());
  for (const Entry& entry : entries_) {
    const bool channels_last = !entry.parameter.is_contiguous();
    describe_tensor(snapshots, prefix + entry.name, view_of(flat, entry, channels_last));
  }
}

void describe_tensor(Snapshots& snapshots, const std::string& name, const torch::Tensor& tensor) {
  const bool channels_last = !tensor.is_contiguous();
  const torch::Tensor in_memory = channels_last ? tensor.detach().permute({0, 2, 3, 1}) : tensor;
  OUTLAST_CHECK(in_memory.is_contiguous(), "{} has holes", name);
  std::vector<std::uint64_t> shape;
  for (const std::int64_t size : in_memory.sizes()) {
    shape.push_back(static_cast<std::uint64_t>(size));
  }
  snapshots.add(name, tensor.data_ptr(), dtype_of_tensor(tensor), std::move(shape));
}

}  // namespace outlast::trainers
