#pragma once

#include <deque>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "job/log_entry.h"
#include "store/around_store.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "sys/world.h"

// A commit log on a bucket in memory, through a store that fails as told. For tests only.
namespace outlast::checkpoint::testing {

inline job::LogEntry checkpoint_draft(std::string why = "interval") {
  return {.kind = job::EntryKind::kCheckpoint,
          .why = std::move(why),
          .checkpoint = {.manifests = {sha256(as_bytes("manifest"))}}};
}

class LogRig {
 public:
  explicit LogRig(sys::World& its_world)
      : world(its_world),
        memory(bucket, world.clock),
        late(memory),
        metered(memory),
        store(
            metered, world.clock, [this](const store::StoreCall&) { return next_fault(); }, &late) {
  }

  Result<CommitLog> try_open(const std::string& writer = "m1/1") {
    return CommitLog::open({.store = store,
                            .threads = world.threads,
                            .clock = world.clock,
                            .random = world.random,
                            .writer = writer},
                           {});
  }
  // A test that cannot open it has failed.
  CommitLog open(const std::string& writer = "m1/1") { return try_open(writer).value(); }

  void put(const std::string& key, const std::string& text) {
    (void)bucket.put(key, Bytes(as_bytes(text).begin(), as_bytes(text).end()), {}, {});
  }
  // Behind everybody's back.
  void put(const job::LogEntry& entry) { put(entry_key(entry.seq), job::encode_entry(entry)); }
  void damage(job::Seq seq) { put(entry_key(seq), text_at(seq) + "x"); }
  void remove(job::Seq seq) { (void)bucket.remove(entry_key(seq), ""); }
  std::string text_at(job::Seq seq) const {
    const auto found = bucket.find(entry_key(seq), {});
    return found ? std::string(as_text(*found->bytes)) : "";
  }
  // "(none)" if it is free or damaged.
  std::string why_at(job::Seq seq) const {
    const auto entry = job::decode_entry(text_at(seq), seq);
    return entry ? entry->why : "(none)";
  }

  store::Fault next_fault() {
    if (faults.empty()) return {};
    const store::Fault fault = faults.front();
    faults.pop_front();
    return fault;
  }

  sys::World& world;
  std::deque<store::Fault> faults;  // of the next calls
  store::MemoryBucket bucket;
  store::MemoryStore memory;
  store::LateWrites late;
  store::MeteredStore metered;
  store::FaultyStore store;
};

// An entry as an honest writer would have made it.
inline job::LogEntry entry_at(job::Seq seq, job::Epoch epoch, job::Epoch floor,
                              job::EntryKind kind = job::EntryKind::kCheckpoint) {
  job::LogEntry entry = checkpoint_draft();
  entry.seq = seq;
  entry.epoch = epoch;
  entry.floor = floor;
  entry.kind = kind;
  entry.nonce = "n" + std::to_string(seq);
  return entry;
}

}  // namespace outlast::checkpoint::testing
