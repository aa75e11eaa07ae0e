#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/commit_log.h"
#include "job/log_entry.h"
#include "job/retention.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// Removing what no checkpoint needs any more, while others go on writing. First objects are
// condemned: a list of their names is stored, and an entry of the log names it. Whoever commits
// after that entry has read it, because the log has no gaps, and does not build on what it
// condemns. Only then, and after a grace period for those who still read, they are removed. Names
// are never used again: packs and manifests are salted.
namespace outlast::checkpoint {

// What a prune entry has condemned, and since when, by the store's clock.
struct Condemned {
  std::map<std::string, WallTime> objects = {};  // by key

  friend bool operator==(const Condemned&, const Condemned&) = default;
};
std::string encode_condemned(const Condemned& condemned);
Result<Condemned> decode_condemned(std::string_view text);
Result<Condemned> load_condemned(store::ObjectStore& store, const Sha256Digest& name,
                                 const sys::CallContext& ctx);

struct PruneRequest {
  job::Retention retention = {};
  Duration grace = std::chrono::hours(24);
  // Give up checkpoints that cannot be read, instead of refusing to prune because of them.
  bool drop_damaged = false;
  bool dry_run = false;  // say what would be done, and do nothing
  std::string why = "asked";
};

struct PruneSummary {
  std::vector<job::Seq> kept = {};
  std::vector<job::Seq> dropped = {};
  std::uint64_t objects_condemned = 0;  // now
  std::uint64_t bytes_condemned = 0;
  std::uint64_t objects_removed = 0;  // condemned before, and long enough
};

// Drops what `retention` does not keep (never the newest, never a pinned one), condemns what only
// they needed and what broken saves have left, and removes what was condemned long enough ago.
// kCorrupt if a checkpoint that is kept, or an entry of the log, cannot be read: then nothing is
// known about what it needs, and nothing is removed.
Result<PruneSummary> prune(store::ObjectStore& store, CommitLog& log, const PruneRequest& request,
                           const sys::CallContext& ctx);

// For whoever commits: kConditionFailed if `theirs` is a prune that condemns something that is
// `needed` (keys).
Result<void> check_not_condemned(store::ObjectStore& store, const job::LogEntry& theirs,
                                 const std::set<std::string>& needed, const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
