#include "checkpoint/loaded_checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/chunk_fetch.h"
#include "checkpoint/codec.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "checkpoint/parallel.h"
#include "checkpoint/read_object.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

constexpr std::size_t kWorkers = 6;  // that fetch at once

// Where in memory a fetched chunk goes.
struct MemoryPlace {
  std::span<std::byte> memory = {};
  std::uint64_t offset = 0;
};

}  // namespace

std::vector<const Item*> LoadedCheckpoint::all_items() const {
  std::vector<const Item*> items;
  std::set<std::string_view> folders;
  for (const Manifest& manifest : manifests) {
    for (const Item& item : manifest.items) {
      if (item.kind == ItemKind::kFolder && !folders.insert(item.path).second) continue;
      items.push_back(&item);
    }
  }
  std::ranges::sort(items, {}, [](const Item* item) -> const std::string& { return item->path; });
  return items;
}

Result<Manifest> load_manifest(store::ObjectStore& store, const Sha256Digest& name,
                               const sys::CallContext& ctx) {
  const std::string key = manifest_key(name);
  const Result<std::string> text = read_object(store, key, kManifestBytesMax, ctx);
  if (!text && text.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kCorrupt, fmt::format("the manifest {} is missing", store.url_of(key)));
  }
  if (!text) return text.error();
  if (sha256(as_bytes(*text)) != name) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("the manifest {} has other bytes than were saved", store.url_of(key)));
  }
  return decode_manifest(*text).while_doing(fmt::format("read the manifest {}", store.url_of(key)));
}

Result<LoadedCheckpoint> load_checkpoint(store::ObjectStore& store, const job::LogEntry& entry,
                                         const sys::CallContext& ctx) {
  LoadedCheckpoint loaded = {.entry = entry};
  for (const Sha256Digest& name : entry.checkpoint.manifests) {
    OUTLAST_TRY_ASSIGN(Manifest manifest, load_manifest(store, name, ctx));
    loaded.manifests.push_back(std::move(manifest));
  }
  return loaded;
}

std::map<RegionId, std::uint64_t> regions_of(const LoadedCheckpoint& checkpoint) {
  std::map<RegionId, std::uint64_t> regions;
  for (const Manifest& manifest : checkpoint.manifests) {
    for (const Item& item : manifest.items) {
      if (item.kind != ItemKind::kRegion) continue;
      regions.emplace(RegionId{.rank = manifest.rank, .name = item.path}, item.size);
    }
  }
  return regions;
}

Result<void> restore_regions(const ReaderParts& parts, const LoadedCheckpoint& checkpoint,
                             const std::map<RegionId, std::span<std::byte>>& into,
                             const sys::CallContext& ctx) {
  std::vector<WantedChunk> wanted;
  std::vector<MemoryPlace> places;
  std::set<RegionId> found;
  for (const Manifest& manifest : checkpoint.manifests) {
    for (const Item& item : manifest.items) {
      if (item.kind != ItemKind::kRegion) continue;
      const auto target = into.find({.rank = manifest.rank, .name = item.path});
      if (target == into.end()) continue;
      if (target->second.size() != item.size) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("the region '{}' of checkpoint {} has {} bytes, not {}", item.path,
                                 checkpoint.entry.seq, item.size, target->second.size()));
      }
      found.insert(target->first);
      std::uint64_t offset = 0;
      for (const std::uint32_t number : item.chunks) {
        const PlacedChunk& placed = manifest.chunks[number];
        if (placed.chunk.codec == CodecKind::kZero) {
          std::ranges::fill(target->second.subspan(offset, placed.chunk.raw_bytes), std::byte{0});
        } else {
          wanted.push_back({.pack = manifest.packs[placed.pack], .chunk = placed.chunk});
          places.push_back({.memory = target->second, .offset = offset});
        }
        offset += placed.chunk.raw_bytes;
      }
    }
  }
  for (const auto& [id, memory] : into) {
    if (!found.contains(id)) {
      return Error(ErrorCode::kNotFound, fmt::format("checkpoint {} has no region '{}' of rank {}",
                                                     checkpoint.entry.seq, id.name, id.rank));
    }
  }
  const auto deliver = [&](std::size_t index, BytesView raw) -> Result<void> {
    const MemoryPlace& place = places[index];
    std::ranges::copy(raw, place.memory.subspan(place.offset).begin());
    return {};
  };
  const Crew crew = {.threads = parts.threads, .clock = parts.clock, .workers = kWorkers};
  return fetch_chunks(parts.store, crew, wanted, deliver, ctx);
}

}  // namespace outlast::checkpoint
