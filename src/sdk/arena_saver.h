#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sdk/agent_link.h"
#include "sdk/arena.h"
#include "sdk/arena_map.h"
#include "sdk/copy_crew.h"
#include "sdk/snapshot_layout.h"

namespace outlast::sdk {

// Writes snapshots into the arena's slots. Everything that it is made of outlives it. Belongs to
// one thread.
class ArenaSaver {
 public:
  struct Parts {
    const SnapshotLayout& layout;
    ArenaMap& arena;
    AgentLink& link;
    CopyCrew& crew;
  };
  struct Snapshot {
    std::uint64_t step = 0;
    std::uint64_t answers = 0;
    std::vector<std::string> blobs = {};  // none is longer than it may be
  };

  explicit ArenaSaver(const Parts& parts);

  // Returns when the snapshot is whole, and the agent has been told.
  void save(const Snapshot& snapshot);
  // The same, but the tensors are copied from now on, until the crew has nothing to do.
  void begin(const Snapshot& snapshot);

  // Of the last save, without what it waited for the agent; only while none is under way.
  std::chrono::steady_clock::duration copy_time() const { return copy_time_; }

 private:
  bool take_slot(SlotWriting& writing);
  void start(const Snapshot& snapshot, bool returns_at_once);

  Parts parts_;
  ArenaWords words_;
  std::vector<bool> has_head_;  // of each slot: it holds our head already
  std::chrono::steady_clock::duration copy_time_ = {};
};

}  // namespace outlast::sdk
