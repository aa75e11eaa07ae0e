#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/mutex.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"

namespace outlast::checkpoint {

// Every chunk that a checkpoint in the making may refer to: those of the checkpoint before it, and
// the new ones as they come. Says of each whether somebody has to store it. Thread-safe.
class ChunkTable {
 public:
  explicit ChunkTable(const std::vector<Manifest>& base);

  struct Claim {
    std::uint32_t id = 0;
    bool is_new = false;  // the caller must store it, and place() it
  };
  Claim claim(const Sha256Digest& name);
  void place(const Sha256Digest& pack, std::uint32_t id, const StoredChunk& chunk);
  // A chunk of zeros is in no pack.
  void place_zeros(std::uint32_t id, const StoredChunk& chunk);

  // The ids of the chunks of an item of base[manifest].
  std::vector<std::uint32_t> ids_of(std::size_t manifest, const Item& item) const;

  // Turns the ids in `items` into places, once all of them are placed: only the chunks and packs
  // that are used, in the order of their first use, so that equal states give equal manifests but
  // for the packs.
  Manifest assemble(std::vector<Item> items) const;

 private:
  struct NameHash {
    std::size_t operator()(const Sha256Digest& name) const {
      std::size_t hash = 0;  // the name is as good a hash as any
      std::memcpy(&hash, name.bytes.data(), sizeof hash);
      return hash;
    }
  };

  std::uint32_t pack_number(const Sha256Digest& pack) OUTLAST_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_map<Sha256Digest, std::uint32_t, NameHash> ids_ OUTLAST_GUARDED_BY(mutex_);
  std::vector<PlacedChunk> chunks_ OUTLAST_GUARDED_BY(mutex_);  // by id
  std::unordered_map<Sha256Digest, std::uint32_t, NameHash> pack_numbers_
      OUTLAST_GUARDED_BY(mutex_);
  std::vector<Sha256Digest> packs_ OUTLAST_GUARDED_BY(mutex_);
  std::vector<std::vector<std::uint32_t>> base_ids_;  // by manifest, then by chunk there
};

}  // namespace outlast::checkpoint
