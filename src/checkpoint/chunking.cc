#include "checkpoint/chunking.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkpoint/safetensors.h"

namespace outlast::checkpoint {
namespace {

// A part of a file that begins a chunk.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  unsigned width = 0;
};

// Cuts every `chunk_bytes`. A remainder below `joined_below` is part of the chunk before it.
void cut(const Stretch& stretch, std::uint32_t chunk_bytes, std::uint32_t joined_below,
         std::vector<ChunkPlan>& plan) {
  for (std::uint64_t begin = stretch.begin; begin < stretch.end;) {
    std::uint64_t bytes = std::min<std::uint64_t>(chunk_bytes, stretch.end - begin);
    if (stretch.end - begin - bytes < joined_below) bytes = stretch.end - begin;
    plan.push_back(
        {.offset = begin, .bytes = static_cast<std::uint32_t>(bytes), .width = stretch.width});
    begin += bytes;
  }
}

bool is_large(const Tensor& tensor) {
  return tensor.end - tensor.begin >= kOwnChunkBytes;
}

// The tensors from `first` on that share one chunk; `first` moves behind them.
Stretch take_small(const std::vector<Tensor>& tensors, std::size_t& first,
                   std::uint32_t chunk_bytes) {
  Stretch shared = {.begin = tensors[first].begin, .end = tensors[first].begin};
  for (; first < tensors.size(); ++first) {
    const Tensor& next = tensors[first];
    if (is_large(next) || next.end - shared.begin > chunk_bytes) break;
    if (next.begin == next.end) continue;
    const bool is_first = shared.end == shared.begin;
    if (is_first) shared.width = width_of(next.dtype);
    if (width_of(next.dtype) != shared.width) shared.width = 0;
    shared.end = next.end;
  }
  return shared;
}

}  // namespace

std::uint32_t chunk_bytes_for(std::uint64_t size) {
  constexpr std::uint64_t kGiB = 1U << 30U;
  constexpr std::uint32_t kMiB = 1U << 20U;
  if (size < kGiB) return kMiB;
  return size < 8 * kGiB ? 2 * kMiB : 4 * kMiB;
}

std::vector<ChunkPlan> plan_chunks(std::uint64_t size, unsigned width) {
  std::vector<ChunkPlan> plan;
  cut({.begin = 0, .end = size, .width = width}, chunk_bytes_for(size), 0, plan);
  return plan;
}

std::vector<ChunkPlan> plan_chunks(const Safetensors& file) {
  const std::uint32_t chunk_bytes = chunk_bytes_for(file.size);
  const std::uint32_t joined_below = chunk_bytes / 4;
  std::vector<ChunkPlan> plan;
  cut({.begin = 0, .end = file.data_begin, .width = 1}, chunk_bytes, joined_below, plan);
  for (std::size_t i = 0; i < file.tensors.size();) {
    const Tensor& tensor = file.tensors[i];
    if (is_large(tensor)) {
      cut({.begin = tensor.begin, .end = tensor.end, .width = width_of(tensor.dtype)}, chunk_bytes,
          joined_below, plan);
      ++i;
    } else {
      cut(take_small(file.tensors, i, chunk_bytes), chunk_bytes, 0, plan);
    }
  }
  return plan;
}

}  // namespace outlast::checkpoint
