#include "checkpoint/chunk_table.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/mutex.h"
#include "checkpoint/codec.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"

namespace outlast::checkpoint {

ChunkTable::ChunkTable(const std::vector<Manifest>& base) {
  const MutexLock lock(mutex_);
  for (const Manifest& manifest : base) {
    std::vector<std::uint32_t>& ids = base_ids_.emplace_back();
    for (const PlacedChunk& placed : manifest.chunks) {
      const auto [at, is_new] =
          ids_.try_emplace(placed.chunk.name, static_cast<std::uint32_t>(chunks_.size()));
      if (is_new) {
        PlacedChunk& chunk = chunks_.emplace_back(placed);
        if (chunk.chunk.codec != CodecKind::kZero) {
          chunk.pack = pack_number(manifest.packs[placed.pack]);
        }
      }
      ids.push_back(at->second);
    }
  }
}

std::uint32_t ChunkTable::pack_number(const Sha256Digest& pack) {
  const auto [at, is_new] =
      pack_numbers_.try_emplace(pack, static_cast<std::uint32_t>(packs_.size()));
  if (is_new) packs_.push_back(pack);
  return at->second;
}

ChunkTable::Claim ChunkTable::claim(const Sha256Digest& name) {
  const MutexLock lock(mutex_);
  const auto [at, is_new] = ids_.try_emplace(name, static_cast<std::uint32_t>(chunks_.size()));
  if (is_new) chunks_.emplace_back();
  return {.id = at->second, .is_new = is_new};
}

void ChunkTable::place(const Sha256Digest& pack, std::uint32_t id, const StoredChunk& chunk) {
  const MutexLock lock(mutex_);
  chunks_[id] = {.pack = pack_number(pack), .chunk = chunk};
}

void ChunkTable::place_zeros(std::uint32_t id, const StoredChunk& chunk) {
  const MutexLock lock(mutex_);
  chunks_[id] = {.pack = 0, .chunk = chunk};
}

std::vector<std::uint32_t> ChunkTable::ids_of(std::size_t manifest, const Item& item) const {
  std::vector<std::uint32_t> ids;
  ids.reserve(item.chunks.size());
  for (const std::uint32_t chunk : item.chunks) ids.push_back(base_ids_[manifest][chunk]);
  return ids;
}

Manifest ChunkTable::assemble(std::vector<Item> items) const {
  const MutexLock lock(mutex_);
  Manifest manifest;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;  // by id
  std::unordered_map<std::uint32_t, std::uint32_t> packs;    // by number in packs_
  for (Item& item : items) {
    for (std::uint32_t& chunk : item.chunks) {
      const auto [number, is_first] =
          numbers.try_emplace(chunk, static_cast<std::uint32_t>(manifest.chunks.size()));
      if (is_first) {
        PlacedChunk placed = chunks_[chunk];
        if (placed.chunk.codec != CodecKind::kZero) {
          const auto [pack, is_first_use] =
              packs.try_emplace(placed.pack, static_cast<std::uint32_t>(manifest.packs.size()));
          if (is_first_use) manifest.packs.push_back(packs_[placed.pack]);
          placed.pack = pack->second;
        }
        manifest.chunks.push_back(placed);
      }
      chunk = number->second;
    }
  }
  manifest.items = std::move(items);
  return manifest;
}

}  // namespace outlast::checkpoint
