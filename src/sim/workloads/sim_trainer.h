#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"

// A trainer as people write them, for simulations of the agent: what it has learnt is a number that
// depends on every step, in order, so that a step that is lost, done twice or done on top of a torn
// file shows in the end.
namespace outlast::sim {

enum class TrainerManner {
  kRenames,  // a new file for each checkpoint, by rename; the oldest are removed
  kInPlace,  // one file, overwritten in two pieces
  kPolite,   // by rename; saves on SIGUSR1, saves and leaves with its exit code on SIGTERM
  kLies,     // the same, but leaves with 0
};

struct SimTrainer {
  TrainerManner manner = TrainerManner::kRenames;
  std::uint64_t steps = 20;
  std::uint64_t save_every = 4;
  Duration step_time = {};
  double crash_per_step = 0;  // exits with 1
  std::string folder = {};    // of its checkpoints
  int left_code = 75;

  // Told when all steps are done and saved; just before it exits with 0.
  std::function<void(std::uint64_t learnt)> finished = {};
  // Told what it begins with; nullopt if what lies there is not what it once wrote.
  std::function<void(std::optional<std::uint64_t> step)> began = {};
  // Told after each step, if anybody wants to know.
  std::function<void(std::uint64_t step)> reached = {};
};

// What is learnt after all steps.
std::uint64_t all_learnt(std::uint64_t steps);

SimProgram make_trainer(Machine& machine, SimTrainer trainer);

}  // namespace outlast::sim
