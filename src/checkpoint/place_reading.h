#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::checkpoint {

// What lies at one place of a commit log: an entry, something that is none, or nothing.
struct PlaceReading {
  job::Seq seq = 0;
  std::optional<job::LogEntry> entry = {};
  std::optional<Error> damage = {};

  bool is_free() const { return !entry && !damage; }
};

// Damage is no error here, but an entry of a newer format is: nothing can be said about a log that
// has one.
Result<PlaceReading> read_place(store::ObjectStore& store, job::Seq seq,
                                const sys::CallContext& ctx);

// The same for many, in parallel; in their order.
Result<std::vector<PlaceReading>> read_places(store::ObjectStore& store, sys::Threads& threads,
                                              const std::vector<job::Seq>& seqs,
                                              const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
