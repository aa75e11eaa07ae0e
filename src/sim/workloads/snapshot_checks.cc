#include "sim/workloads/snapshot_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>

#include "agent/event.h"
#include "base/time.h"
#include "job/log_entry.h"
#include "sim/simulation.h"
#include "sim/workloads/snapshot_trainer.h"

namespace outlast::sim {
namespace {

// An answer that came with so much left is saved in time, also by a store that fails now and then.
constexpr Duration kAnswerInTime = std::chrono::seconds(8);

}  // namespace

void SnapshotChecks::agent_begins(const Machine& machine, job::Epoch epoch) {
  of(machine) = {.epoch = epoch};
  highest_ = std::max(highest_, epoch);
}

void SnapshotChecks::happened(const agent::Event& event, job::Epoch epoch) {
  simulation_.note(event.kind, event.sentence);
  if (event.kind == "saved" && event.facts.contains("step")) {
    safe_[epoch] = std::max(safe_[epoch], event.facts.at("step").get<std::uint64_t>());
  }
  if (event.kind == "done" && !has_finished()) {
    simulation_.fail("the job is called done, and the trainer has not finished");
  }
}

void SnapshotChecks::noticed(const Machine& machine, Duration left) {
  MachineLife& its = of(machine);
  its.ends = saturating_add(simulation_.clock().mono_now(), left);
  const bool may_crash = trainer_.crash_per_step > 0 || trainer_.crash_per_piece > 0;
  its.must_answer = its.begun.size() == trainer_.ranks && !may_crash;
}

void SnapshotChecks::machine_is_off(const Machine& machine) {
  const MachineLife life = std::exchange(of(machine), {});
  // Who has lost the job to another attempt saves nothing any more.
  if (life.epoch < highest_) return;
  if (!life.ends) return ended_without_notice(life);
  if (life.answers.size() < trainer_.ranks) {
    if (life.must_answer && finished_.empty()) {
      simulation_.fail("the end was known in time, and the trainer was not asked for its state");
    }
    return;
  }
  const Answer& first = life.answers.begin()->second;
  for (const auto& [rank, answer] : life.answers) {
    if (answer.step != first.step || *life.ends - answer.when < kAnswerInTime) return;
  }
  simulation_.note("must be safe", fmt::format("step {}", first.step));
  safe_[life.epoch] = std::max(safe_[life.epoch], first.step);
}

void SnapshotChecks::ended_without_notice(const MachineLife& life) {
  if (life.done.size() < trainer_.ranks || !interval_steps_) return;
  std::uint64_t done = life.done.begin()->second;
  for (const auto& [rank, step] : life.done) done = std::min(done, step);
  std::uint64_t safe = 0;
  for (const auto& [epoch, step] : safe_) safe = std::max(safe, step);
  const std::uint64_t lost_max =
      *interval_steps_ + static_cast<std::uint64_t>(kAnswerInTime / trainer_.step_time);
  if (done <= safe + lost_max) return;
  simulation_.fail(
      fmt::format("the machine is lost after step {}, and no step after {} was saved", done, safe));
}

std::optional<std::uint64_t> SnapshotChecks::newest_of_all(const MachineLife& life) const {
  std::optional<std::uint64_t> newest;
  if (life.held.size() < trainer_.ranks) return newest;
  for (const auto& [slot, step] : life.held.begin()->second) {
    const bool have_all = std::ranges::all_of(life.held, [&](const auto& of_rank) {
      return std::ranges::any_of(of_rank.second,
                                 [&](const auto& held) { return held.second == step; });
    });
    if (have_all) newest = std::max(newest.value_or(0), step);
  }
  return newest;
}

void SnapshotChecks::starts(Machine& machine, int life) {
  MachineLife& its = of(machine);
  its.at_least = newest_of_all(its);
  its.held.clear();
  its.begun.clear();
  its.done.clear();
  its.answers.clear();
  its.must_answer = false;
  simulation_.note("trainer starts",
                   fmt::format("life {}, in memory: {}", life,
                               its.at_least ? fmt::format("step {}", *its.at_least) : "nothing"));
}

void SnapshotChecks::began(Machine& machine, int /*life*/, std::uint32_t rank,
                           std::optional<std::uint64_t> step) {
  simulation_.note("rank begins",
                   fmt::format("{} at {}", rank, step ? fmt::format("step {}", *step) : "torn"));
  if (!step) return simulation_.fail("a rank was given what nobody has saved");
  MachineLife& its = of(machine);
  its.begun[rank] = *step;
  const std::uint64_t first = its.begun.begin()->second;
  if (*step != first) {
    return simulation_.fail(fmt::format("ranks begin at different steps: {} and {}", first, *step));
  }
  if (its.at_least && *step < *its.at_least) {
    return simulation_.fail(
        fmt::format("step {} was in memory, and the trainer was given {}", *its.at_least, *step));
  }
  for (const auto& [epoch, safe] : safe_) {
    if (epoch <= its.epoch && *step < safe) {
      return simulation_.fail(
          fmt::format("lost: step {} of attempt {} was safe, and attempt {} "
                      "goes on from {}",
                      safe, epoch, its.epoch, *step));
    }
  }
}

void SnapshotChecks::did(Machine& machine, std::uint32_t rank, std::uint64_t step) {
  of(machine).done[rank] = step;
}

void SnapshotChecks::wrote(Machine& machine, std::uint32_t rank, std::uint64_t slot,
                           std::optional<std::uint64_t> step) {
  auto& held = of(machine).held[rank];
  held.erase(slot);
  if (step) held[slot] = *step;
}

void SnapshotChecks::answered_to_leave(Machine& machine, std::uint32_t rank, std::uint64_t step) {
  simulation_.note("rank leaves", fmt::format("{} after step {}", rank, step));
  of(machine).answers[rank] = {.step = step, .when = simulation_.clock().mono_now()};
}

void SnapshotChecks::finished(std::uint32_t rank, bool is_right) {
  simulation_.note("finished", fmt::format("rank {}", rank));
  finished_[rank] = is_right;
  if (!is_right) simulation_.fail("a rank learnt something else than without interruption");
}

}  // namespace outlast::sim
