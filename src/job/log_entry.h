#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"

// One entry of a job's commit log, and its one text. Values only.
namespace outlast::job {

using Seq = std::uint64_t;    // an entry's place in the log, from 1 without a gap
using Epoch = std::uint64_t;  // of an attempt; the first is 1

inline constexpr Seq kSeqMax = 999'999'999'999;
// What every reader of JSON keeps exactly: 2^53. No number in an entry is above it.
inline constexpr std::uint64_t kEntryNumberMax = std::uint64_t{1} << 53U;
inline constexpr std::size_t kEntryBytesMax = std::size_t{16} << 20U;

enum class EntryKind {
  kFence,       // an attempt takes over: nothing of a lower epoch counts after it
  kCheckpoint,  // the trainer's state, durable
  kPrune,       // which checkpoints are kept, and which objects may be removed
  kPin,         // a checkpoint that no prune may drop
  kUnpin,
  kDone,
  kFailed,
  kCancelled,
};
std::string_view to_string(EntryKind kind);
Result<EntryKind> parse_entry_kind(std::string_view name);
// Whether it is about one checkpoint: kPin, kUnpin.
bool has_target(EntryKind kind);

// Of kCheckpoint.
struct CheckpointFacts {
  std::vector<Sha256Digest> manifests = {};  // one for each rank that saved; at least one
  std::optional<std::uint64_t> step = {};
  std::map<std::string, double> metrics = {};  // finite
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;         // of the state
  std::uint64_t stored_bytes = 0;  // that were added to the store for it

  friend bool operator==(const CheckpointFacts&, const CheckpointFacts&) = default;
};

// Of kPrune. It is a summary, too: who has read back to it needs to read no further.
struct PruneFacts {
  std::vector<Seq> kept = {};    // every checkpoint before it that can still be restored
  std::vector<Seq> pinned = {};  // those of them that are pinned
  // The object with the names of what may be removed after the grace period; none if nothing may.
  std::optional<Sha256Digest> condemned = {};

  friend bool operator==(const PruneFacts&, const PruneFacts&) = default;
};

struct LogEntry {
  Seq seq = 0;
  Epoch epoch = 0;
  // The highest epoch of all entries before it, and the ending that the job had come to by then (0
  // if to none), as its writer had read them. A reader of the end of the log so knows what the
  // beginning says. They can be believed: only who has read every place before it can fill one.
  Epoch floor = 0;
  Seq ended = 0;
  EntryKind kind = EntryKind::kFence;
  std::string nonce = {};           // unlike that of any other entry: by it a writer knows its own
  WallTime time = {};               // by the writer's clock, in whole milliseconds; for people
  std::string writer = {};          // machine and process; for people
  std::string why = {};             // "notice", "interval", "asked", …; for people
  CheckpointFacts checkpoint = {};  // kCheckpoint
  PruneFacts prune = {};            // kPrune
  Seq target = 0;                   // kPin, kUnpin: the checkpoint

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

// Whether it can be in a log: kInvalidArgument, with what is wrong, if something is missing, out of
// bounds or not sorted. For what comes from outside (metrics, names), before encode_entry().
Result<void> check_entry(const LogEntry& entry);

// The canonical text, with a checksum over the rest of it: there is no second text that reads as
// the same entry, so that a changed byte is always noticed. What check_entry() refuses is a bug
// here.
std::string encode_entry(const LogEntry& entry);
// kCorrupt if a byte was changed or a field is missing or odd, or if it is not the entry of place
// `seq`; kInvalidArgument, naming both versions, if it is of a newer format.
Result<LogEntry> decode_entry(std::string_view text, Seq seq);

}  // namespace outlast::job
