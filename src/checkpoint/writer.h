#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/result.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tree_scan.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/threads.h"

namespace outlast::checkpoint {

enum class Compression {
  kAuto,  // where it makes the save faster: not when the store takes bytes faster than they shrink
  kAlways,  // whatever shrinks
  kNever,
};

// Bytes in memory, by a name. They must not change while they are saved.
struct Region {
  std::string name = {};
  BytesView bytes = {};
  unsigned width = 0;  // of the numbers in it, in bytes; 0: not known
};

// What one process (a rank) has to save.
struct State {
  std::uint32_t rank = 0;
  std::vector<FoundItem> files = {};
  std::string origin = {};  // of the files: origin_of()
  std::vector<Region> regions = {};
};

struct SaveProgress {
  std::uint64_t bytes = 0;         // of the state
  std::uint64_t bytes_known = 0;   // of these: read, or known to be what they were
  std::uint64_t bytes_same = 0;    // of these: in the store before
  std::uint64_t bytes_stored = 0;  // added to the store, after compression
  std::uint64_t files_again = 0;   // read again because they changed meanwhile
};

struct SaveOptions {
  Compression compression = Compression::kAuto;
  unsigned workers = 6;                                 // each has a pack in memory
  std::uint64_t pack_bytes = 16U << 20U;                // a pack is closed when it is larger
  std::function<void(const SaveProgress&)> watch = {};  // about ten times a second
  // Leaves the processors to others, until `hurry` is asked for.
  bool stands_back = false;
  std::stop_token hurry = {};
};

// What was saved, durable but not committed: nobody can see it yet, and a prune may remove it after
// the grace period.
struct SavedPart {
  Sha256Digest name = {};  // of the manifest in the store
  Manifest manifest = {};
  std::uint64_t files = 0;
  SaveProgress totals = {};
};

// How fast the store takes bytes, from what was seen of it. Kept between saves. Confined to its
// owner.
struct LinkRate {
  double bytes_per_second = 0;  // 0: not known yet
};

struct WriterParts {
  store::ObjectStore& store;  // of the job
  sys::FileSystem& files;
  sys::Threads& threads;
  sys::Clock& clock;
  Random& random;
};

// Puts a state into the store: read, cut into chunks, hash, leave out what `base` has, compress,
// pack, upload, all at once in several threads with bounded memory; then the manifest. A file that
// changes while it is read is read again, three times at most, then kConditionFailed. Everything it
// returns ok for is durable. Stop it at any point through `ctx`; what it has put by then is never
// believed. `rate` is read and brought up to date.
Result<SavedPart> save_part(const WriterParts& parts, const State& state,
                            const std::vector<Manifest>& base, const SaveOptions& options,
                            LinkRate& rate, const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
