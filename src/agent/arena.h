#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "sdk/arena.h"
#include "sys/shared_memory.h"

namespace outlast::agent {

// The name of a snapshot's region in a checkpoint.
inline constexpr std::string_view kSnapshotRegion = "snapshot.safetensors";

// One rank's arena, on our side: docs/trainer_contract.md. The trainer may write anything into it
// at any time; nothing here trusts it further than is checked. Thread-safe, but only one reads a
// snapshot at a time.
class Arena {
 public:
  // New memory. `slot_bytes` is rounded up. kUnavailable if it cannot be had.
  static Result<std::shared_ptr<Arena>> make(sys::SharedMemories& memories, std::uint64_t slots,
                                             std::uint64_t slot_bytes);

  const std::shared_ptr<sys::SharedMemory>& memory() const { return memory_; }
  sdk::ArenaWords words() const { return sdk::ArenaWords(memory_->bytes().data()); }
  std::uint64_t slots() const { return slots_.load(std::memory_order_relaxed); }
  std::uint64_t slot_bytes() const { return slot_bytes_; }
  std::span<std::byte> slot(std::uint64_t slot) const;
  BytesView bytes_of(const sdk::SlotSnapshot& snapshot) const;

  // What is whole at this moment, newest first.
  std::vector<sdk::SlotSnapshot> whole() const;

  // While no trainer has it: what has a higher number is no whole snapshot any more. What is older
  // stays, as it may be read at this moment.
  void drop_newer_than(std::uint64_t number);
  // Before the trainer has it: only the first slot is used from now on.
  void limit_to_one_slot();
  // The same: slot 0 holds a whole snapshot now.
  void set_first_slot(std::uint64_t number, std::uint64_t step, std::uint64_t length);

 private:
  Arena(std::shared_ptr<sys::SharedMemory> memory, std::uint64_t slots, std::uint64_t slot_bytes);

  const std::shared_ptr<sys::SharedMemory> memory_;
  std::atomic<std::uint64_t> slots_;
  const std::uint64_t slot_bytes_;
};

// A snapshot of the job: one of each rank, all of one step.
struct JobSnapshot {
  struct Part {
    std::shared_ptr<Arena> arena = {};
    sdk::SlotSnapshot snapshot = {};
  };
  std::uint64_t step = 0;
  std::vector<Part> parts = {};  // by rank

  std::uint64_t bytes() const;
  // The ask that all of them answer; 0 if none.
  std::uint64_t answers() const;
  // The same as before: it is the same snapshot. Good in this process.
  std::uint64_t fingerprint() const;
};

// The fingerprint of files and a snapshot together.
std::uint64_t with_snapshot(std::uint64_t files, const JobSnapshot& snapshot);

// The newest step that every rank has; nothing if there is none, or an arena is missing (null).
std::optional<JobSnapshot> newest_of_all(const std::vector<std::shared_ptr<Arena>>& arenas);
using NewestSnapshot =
    std::function<std::optional<JobSnapshot>(const std::vector<std::shared_ptr<Arena>>&)>;

// While it lives, trainers leave these slots alone.
class SnapshotReading {
 public:
  // Nothing if a trainer has begun to write into one of them.
  static std::unique_ptr<SnapshotReading> begin(const JobSnapshot& snapshot);
  ~SnapshotReading();
  SnapshotReading(const SnapshotReading&) = delete;
  SnapshotReading& operator=(const SnapshotReading&) = delete;

  // Whether all that was read is of that snapshot: before any of it is believed.
  bool is_still_whole() const;

 private:
  explicit SnapshotReading(JobSnapshot snapshot) : snapshot_(std::move(snapshot)) {}

  const JobSnapshot snapshot_;
};

}  // namespace outlast::agent
