#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/safetensors.h"

// Where files are cut. Readers do not care; writers do, because only what is cut at the same places
// is found to be in the store already.
namespace outlast::checkpoint {

// One chunk to be.
struct ChunkPlan {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  unsigned width = 0;  // of the numbers in it, as Codec::choose() takes it

  friend bool operator==(const ChunkPlan&, const ChunkPlan&) = default;
};

// From so many bytes on a tensor has chunks of its own.
inline constexpr std::uint64_t kOwnChunkBytes = 256U << 10U;

// 1 MiB; 2 MiB for a whole of 1 GiB or more; 4 MiB from 8 GiB on.
std::uint32_t chunk_bytes_for(std::uint64_t size);

// All of 0 … size, in order and without gaps; nothing for an empty file. Depends on nothing but the
// arguments. A whole that grows keeps its boundaries, except the last and unless it passes 1 or 8
// GiB.
std::vector<ChunkPlan> plan_chunks(std::uint64_t size, unsigned width = 0);

// The same for a safetensors file, cut where its tensors begin: the header has chunks of its own;
// each tensor of kOwnChunkBytes or more, too; runs of smaller ones share chunks. A piece that
// remains of a tensor and is shorter than a quarter of a chunk is part of the one before it. So the
// chunks of a large tensor depend on nothing but its own bytes and the size of the file.
std::vector<ChunkPlan> plan_chunks(const Safetensors& file);

}  // namespace outlast::checkpoint
