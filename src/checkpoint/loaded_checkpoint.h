#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/manifest.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::checkpoint {

// A checkpoint's entry and what it is made of.
struct LoadedCheckpoint {
  job::LogEntry entry = {};
  std::vector<Manifest> manifests = {};  // as in the entry

  // Each manifest's items, together; a folder that several ranks have comes once.
  std::vector<const Item*> all_items() const;
};

// Fetches the manifests and compares them with their names. kCorrupt, naming the object, if one is
// damaged or missing, kInvalidArgument if it is of a newer format: the checkpoint cannot be
// restored then.
Result<LoadedCheckpoint> load_checkpoint(store::ObjectStore& store, const job::LogEntry& entry,
                                         const sys::CallContext& ctx);

// One manifest by its name.
Result<Manifest> load_manifest(store::ObjectStore& store, const Sha256Digest& name,
                               const sys::CallContext& ctx);

struct ReaderParts {
  store::ObjectStore& store;  // of the job
  sys::Threads& threads;
  sys::Clock& clock;
};

// Which region of a checkpoint: each rank may have one of the same name.
struct RegionId {
  std::uint32_t rank = 0;
  std::string name = {};
  friend auto operator<=>(const RegionId&, const RegionId&) = default;
};
// All of them, with their sizes.
std::map<RegionId, std::uint64_t> regions_of(const LoadedCheckpoint& checkpoint);

// Regions of a checkpoint into memory of their sizes: kInvalidArgument if a size differs, kNotFound
// if one is not in the checkpoint. After an error the memory holds anything.
Result<void> restore_regions(const ReaderParts& parts, const LoadedCheckpoint& checkpoint,
                             const std::map<RegionId, std::span<std::byte>>& into,
                             const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
