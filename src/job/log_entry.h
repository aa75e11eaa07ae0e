#pragma once

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
  // The highest epoch of all entries before it, as its writer had read them. A reader of the end of
  // the log so knows what the beginning says.
  Epoch floor = 0;
  EntryKind kind = EntryKind::kFence;
  std::string nonce = {};   // unlike that of any other entry: by it a writer knows its own
  WallTime time = {};       // by the writer's clock, in whole milliseconds; for people
  std::string writer = {};  // machine and process; for people
  std::string why = {};     // "notice", "interval", "asked", …; for people
  CheckpointFacts checkpoint = {};  // kCheckpoint
  PruneFacts prune = {};            // kPrune
  Seq target = 0;                   // kPin, kUnpin: the checkpoint

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

// The canonical text, which ends with a checksum over the rest: there is no second text that reads
// as the same entry, so that a changed byte is always noticed.
std::string encode_entry(const LogEntry& entry);
// kCorrupt if a byte was changed or a field is missing or odd, or if it is not the entry of place
// `seq`; kInvalidArgument, naming both versions, if it is of a newer format.
Result<LogEntry> decode_entry(std::string_view text, Seq seq);

}  // namespace outlast::job
