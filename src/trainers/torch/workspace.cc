#include "trainers/torch/workspace.h"

#include <algorithm>
#include <new>

namespace outlast::trainers {
namespace {

constexpr std::size_t kLine = 16;                 // numbers: 64 bytes
constexpr std::size_t kBlockMin = 1U << 18U;      // numbers: 1 MiB
constexpr std::align_val_t kMemoryAlignment{64};  // bytes

}  // namespace

void Workspace::Free::operator()(float* memory) const {
  ::operator delete(memory, kMemoryAlignment);
}

void Workspace::add_block(std::size_t size) {
  size = std::max(size, kBlockMin);
  void* memory = ::operator new(size * sizeof(float), kMemoryAlignment);
  blocks_.push_back(
      {.memory = std::unique_ptr<float[], Free>(static_cast<float*>(memory)), .size = size});
  used_ = 0;
}

float* Workspace::take(std::size_t count) {
  count = (count + kLine - 1) / kLine * kLine;
  if (blocks_.empty()) add_block(count);
  // Twice the last one: a first step takes few of them.
  if (blocks_.back().size - used_ < count) add_block(std::max(count, 2 * blocks_.back().size));
  float* memory = blocks_.back().memory.get() + used_;
  used_ += count;
  return memory;
}

void Workspace::clear() {
  if (blocks_.size() > 1) {
    std::size_t size = 0;
    for (const Block& block : blocks_) size += block.size;
    blocks_.clear();
    add_block(size);
  }
  used_ = 0;
}

}  // namespace outlast::trainers
