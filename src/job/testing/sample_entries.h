#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/time.h"
#include "job/log_entry.h"

// Entries to test with. For tests only.
namespace outlast::job::testing {

// One of the kind, with everything that it can have; its place is 17.
inline LogEntry sample_entry(EntryKind kind) {
  LogEntry entry{.seq = 17,
                 .epoch = 3,
                 .floor = 3,
                 .kind = kind,
                 .nonce = "0123456789abcdefghjkmnpqrs",
                 .time = WallTime(std::chrono::milliseconds(1'792'000'000'123)),
                 .writer = "node-7/4711",
                 .why = "interval"};
  if (kind == EntryKind::kCheckpoint) {
    entry.checkpoint = {.manifests = {sha256(as_bytes("rank 0")), sha256(as_bytes("rank 1"))},
                        .step = 1200,
                        .metrics = {{"accuracy", 1}, {"val_loss", 0.1 + 0.2}},
                        .files = 12,
                        .bytes = 4'000'000'000,
                        .stored_bytes = 123'456};
  }
  if (kind == EntryKind::kPrune) {
    entry.ended = 9;
    entry.prune = {.kept = {2, 5, 16}, .pinned = {5}, .condemned = sha256(as_bytes("condemned"))};
  }
  if (has_target(kind)) entry.target = 5;
  return entry;
}

inline const std::vector<EntryKind>& all_entry_kinds() {
  static const std::vector<EntryKind> kinds = {
      EntryKind::kFence, EntryKind::kCheckpoint, EntryKind::kPrune,  EntryKind::kPin,
      EntryKind::kUnpin, EntryKind::kDone,       EntryKind::kFailed, EntryKind::kCancelled};
  return kinds;
}

}  // namespace outlast::job::testing
