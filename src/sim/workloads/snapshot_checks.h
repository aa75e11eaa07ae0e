#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/event.h"
#include "base/time.h"
#include "job/log_entry.h"
#include "sim/simulation.h"
#include "sim/workloads/snapshot_trainer.h"

namespace outlast::sim {

// What must hold in every history of a trainer that takes snapshots. It knows what the ranks have
// in their arenas from the ranks alone, and not from the agent. Fails the simulation.
class SnapshotChecks : public SnapshotWitness {
 public:
  SnapshotChecks(Simulation& simulation, const SnapshotTrainer& trainer)
      : simulation_(simulation), trainer_(trainer) {}

  // From now on no more may be lost without notice than so many steps, and those of a save.
  void expect_saves(std::uint64_t interval_steps) { interval_steps_ = interval_steps; }

  // --- What happens to a machine and its agent ---

  // A new process of the agent: what was in memory is gone.
  void agent_begins(const Machine& machine, job::Epoch epoch);
  void happened(const agent::Event& event, job::Epoch epoch);
  // It was told that its machine ends in `left`, and that is kept.
  void noticed(const Machine& machine, Duration left);
  void machine_is_off(const Machine& machine);
  bool has_finished() const { return finished_.size() == trainer_.ranks; }

  // --- What the ranks tell ---
  void starts(Machine& machine, int life) override;
  void began(Machine& machine, int life, std::uint32_t rank,
             std::optional<std::uint64_t> step) override;
  void did(Machine& machine, std::uint32_t rank, std::uint64_t step) override;
  void wrote(Machine& machine, std::uint32_t rank, std::uint64_t slot,
             std::optional<std::uint64_t> step) override;
  void answered_to_leave(Machine& machine, std::uint32_t rank, std::uint64_t step) override;
  void finished(std::uint32_t rank, bool is_right) override;

 private:
  struct Answer {
    std::uint64_t step = 0;
    MonoTime when = {};
  };
  // One life of a machine.
  struct MachineLife {
    job::Epoch epoch = 0;
    // By rank and slot: the steps of whole snapshots.
    std::map<std::uint32_t, std::map<std::uint64_t, std::uint64_t>> held = {};
    // The life of its trainer.
    std::optional<std::uint64_t> at_least = {};         // the step that it begins after
    std::map<std::uint32_t, std::uint64_t> begun = {};  // by rank
    std::map<std::uint32_t, std::uint64_t> done = {};   // by rank: the last step
    std::map<std::uint32_t, Answer> answers = {};       // by rank
    std::optional<MonoTime> ends = {};                  // as it was told
    bool must_answer = false;                           // all ranks were there when it was told
  };
  void ended_without_notice(const MachineLife& life);
  // The newest step of which all ranks have a whole snapshot.
  std::optional<std::uint64_t> newest_of_all(const MachineLife& life) const;
  MachineLife& of(const Machine& machine) { return lives_[machine.name()]; }

  Simulation& simulation_;
  const SnapshotTrainer& trainer_;
  std::optional<std::uint64_t> interval_steps_;
  std::map<std::string, MachineLife> lives_;  // by the machine's name
  std::map<job::Epoch, std::uint64_t> safe_;  // the newest step that must not be lost
  job::Epoch highest_ = 0;
  std::map<std::uint32_t, bool> finished_;
};

}  // namespace outlast::sim
