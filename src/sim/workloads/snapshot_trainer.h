#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/encoding.h"
#include "base/time.h"
#include "sim/simulation.h"

// A trainer that keeps its state safe by an SDK, for simulations of the agent: some ranks, each a
// process, in lockstep. What a rank has learnt is a number that depends on every step, in order.
namespace outlast::sim {

// Who wants to know what its ranks do. Told in the very moment.
class SnapshotWitness {
 public:
  virtual ~SnapshotWitness() = default;
  // The trainer is being started, for the n-th time on this machine; none of its ranks is there
  // yet.
  virtual void starts(Machine& machine, int life) = 0;
  // A rank begins after this step; nothing: with what nobody ever saved.
  virtual void began(Machine& machine, int life, std::uint32_t rank,
                     std::optional<std::uint64_t> step) = 0;
  // A rank has done this step.
  virtual void did(Machine& machine, std::uint32_t rank, std::uint64_t step) = 0;
  // Into a slot of its arena: no step while it is being written.
  virtual void wrote(Machine& machine, std::uint32_t rank, std::uint64_t slot,
                     std::optional<std::uint64_t> step) = 0;
  // It has saved this step because it was asked to leave after that.
  virtual void answered_to_leave(Machine& machine, std::uint32_t rank, std::uint64_t step) = 0;
  // A rank is done with all steps, as all others are, before anybody says so.
  virtual void finished(std::uint32_t rank, bool is_right) = 0;
};

struct SnapshotTrainer {
  enum class End { kSaysDone, kExitsWith0, kSaysDoneAndFails };

  std::uint32_t ranks = 1;
  std::uint64_t steps = 20;
  std::uint64_t save_every = 0;   // by itself; 0: only when it is asked
  bool only_first_saves = false;  // by itself: rank 0 alone
  std::uint64_t words = 100;      // of its state
  bool grows = false;             // says now and then that its state may become larger
  bool minds_reading = true;
  bool says_begun = true;      // false: a mistake
  bool leaves_with_0 = false;  // when it is told to leave
  End end = End::kSaysDone;
  Duration step_time = {};
  double crash_per_step = 0;   // of each rank
  double crash_per_piece = 0;  // in the middle of a save

  // Of one rank's state, in any of its lives.
  std::uint64_t bytes_max() const { return words * 8 + (grows ? 3 * kGrowth : 0); }
  static constexpr std::uint64_t kGrowth = 8192;  // from life to life
};

// What a rank has after a step.
Bytes snapshot_state(const SnapshotTrainer& trainer, std::uint32_t rank, std::uint64_t step);

// Installs the programs: `name`, and what it starts. Both others outlive the machine's lives.
void install_snapshot_trainer(Machine& machine, const std::string& name,
                              const SnapshotTrainer& trainer, SnapshotWitness& witness);

}  // namespace outlast::sim
