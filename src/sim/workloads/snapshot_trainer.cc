#include "sim/workloads/snapshot_trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "sim/workloads/snapshot_client.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

using std::chrono::milliseconds;

constexpr Duration kMeetEvery = milliseconds(20);   // looks whether the others are there
constexpr Duration kWatchEvery = milliseconds(50);  // looks whether a rank has ended
constexpr Duration kPieceTime = milliseconds(30);

std::uint64_t learn_in_rank(std::uint64_t learnt, std::uint64_t step) {
  return (learnt ^ step) * 0x100000001b3 + 1;
}

std::uint64_t learnt_by_rank(std::uint32_t rank, std::uint64_t steps) {
  std::uint64_t learnt = rank + 7;
  for (std::uint64_t step = 1; step <= steps; ++step) learnt = learn_in_rank(learnt, step);
  return learnt;
}

// The first word is what was learnt, and all others depend on it.
Bytes state_of(std::uint64_t learnt, std::uint64_t size) {
  std::vector<std::uint64_t> words(size, learnt);
  for (std::size_t i = 1; i < words.size(); ++i) words[i] = learn_in_rank(learnt, i);
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

std::string variable(const sys::ProcessSpec& spec, std::string_view name) {
  if (!spec.environment) return "";
  for (const auto& [key, value] : *spec.environment) {
    if (key == name) return value;
  }
  return "";
}

// Where the ranks of one life meet: none does a step before all have done the one before it.
struct Meeting {
  std::vector<std::uint64_t> arrived = {};  // by rank
};

class RankLife {
 public:
  RankLife(Machine& machine, const SnapshotTrainer& trainer, SnapshotWitness& witness, int life,
           std::uint32_t rank, Meeting& meeting)
      : machine_(machine),
        world_(machine.world()),
        trainer_(trainer),
        witness_(witness),
        life_(life),
        rank_(rank),
        meeting_(meeting) {}

  int run(SimProcessSelf& self) {
    const std::uint64_t growth =
        trainer_.grows ? SnapshotTrainer::kGrowth * static_cast<std::uint64_t>(life_ % 4) : 0;
    auto connected = SnapshotClient::connect(
        world_, variable(self.spec(), "OUTLAST_SOCKET"),
        {.rank = rank_, .ranks = trainer_.ranks, .bytes = trainer_.words * 8 + growth}, manners());
    if (!connected) return 1;
    SnapshotClient& client = **connected;
    const std::optional<SnapshotClient::Snapshot> resumed = client.resume();
    std::uint64_t step = resumed ? resumed->step : 0;
    const bool is_exact =
        !resumed || std::ranges::equal(resumed->bytes, snapshot_state(trainer_, rank_, step));
    std::uint64_t learnt = learnt_by_rank(rank_, 0);
    if (resumed) std::memcpy(&learnt, resumed->bytes.data(), sizeof learnt);
    witness_.began(machine_, life_, rank_, is_exact ? std::optional(step) : std::nullopt);
    while (step < trainer_.steps) {
      const Duration jitter(static_cast<std::int64_t>(
          world_.random.below(static_cast<std::uint64_t>(trainer_.step_time.count() / 4) + 1)));
      if (!meet(step) || !world_.clock.sleep_for(trainer_.step_time + jitter, {})) return 1;
      learnt = learn_in_rank(learnt, ++step);
      witness_.did(machine_, rank_, step);
      if (world_.random.chance(trainer_.crash_per_step)) return 1;
      if (rank_ == 0) client.progress(step, trainer_.steps);
      const Bytes state = state_of(learnt, trainer_.words);
      if (!client.step_done(step, state, is_due(step))) return 1;
      if (client.leaves()) {
        witness_.answered_to_leave(machine_, rank_, step);
        return trainer_.leaves_with_0 ? 0 : client.leave_code();
      }
    }
    if (!meet(trainer_.steps)) return 1;
    witness_.finished(rank_, learnt == learnt_by_rank(rank_, trainer_.steps));
    if (trainer_.end == SnapshotTrainer::End::kExitsWith0) return 0;
    client.done();
    if (rank_ > 0) return 0;
    return trainer_.end == SnapshotTrainer::End::kSaysDone ? 0 : 3;
  }

 private:
  SnapshotClient::Manners manners() {
    return {.minds_reading = trainer_.minds_reading,
            .says_begun = trainer_.says_begun,
            .between =
                [this] {
                  return world_.clock.sleep_for(kPieceTime, {}) &&
                         !world_.random.chance(trainer_.crash_per_piece);
                },
            .wrote =
                [this](std::uint64_t slot, std::optional<std::uint64_t> step) {
                  witness_.wrote(machine_, rank_, slot, step);
                }};
  }

  bool is_due(std::uint64_t step) const {
    if (trainer_.save_every == 0 || (trainer_.only_first_saves && rank_ > 0)) return false;
    return step % trainer_.save_every == 0;
  }

  // All have done this step.
  bool meet(std::uint64_t step) {
    meeting_.arrived[rank_] = step + 1;
    while (std::ranges::any_of(meeting_.arrived,
                               [&](std::uint64_t other) { return other < step + 1; })) {
      if (!world_.clock.sleep_for(kMeetEvery, {})) return false;
    }
    return true;
  }

  Machine& machine_;
  sys::World& world_;
  const SnapshotTrainer& trainer_;
  SnapshotWitness& witness_;
  const int life_;
  const std::uint32_t rank_;
  Meeting& meeting_;
};

// The program that starts the ranks. It ends as soon as one of them fails, and the others with it;
// those that leave are waited for.
int supervise(sys::World& world, const SimProcessSelf& self, std::uint32_t ranks,
              const std::string& rank_program, int life) {
  std::vector<std::unique_ptr<sys::Process>> running;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    sys::ProcessSpec spec{.argv = {rank_program, fmt::format("{}", life), fmt::format("{}", rank)},
                          .environment = self.spec().environment};
    Result<std::unique_ptr<sys::Process>> process = world.processes.spawn(std::move(spec));
    if (!process) return 1;
    running.push_back(*std::move(process));
  }
  int code = 0;
  while (!running.empty()) {
    for (auto one = running.begin(); one != running.end();) {
      const Result<sys::ExitStatus> ended =
          (*one)->wait({.deadline = saturating_add(world.clock.mono_now(), kWatchEvery)});
      if (!ended && ended.error().code() != ErrorCode::kDeadlineExceeded) return 1;
      if (!ended) {
        ++one;
        continue;
      }
      const auto* const exited = std::get_if<sys::Exited>(&*ended);
      if (exited == nullptr || exited->code == 1) return 1;
      if (exited->code != 0) code = exited->code;
      one = running.erase(one);
    }
  }
  return code;
}

}  // namespace

Bytes snapshot_state(const SnapshotTrainer& trainer, std::uint32_t rank, std::uint64_t step) {
  return state_of(learnt_by_rank(rank, step), trainer.words);
}

void install_snapshot_trainer(Machine& machine, const std::string& name,
                              const SnapshotTrainer& trainer, SnapshotWitness& witness) {
  const std::string rank_program = name + "-rank";
  // Of all lives: ranks of a dead one may still unwind.
  auto meetings = std::make_shared<std::vector<std::unique_ptr<Meeting>>>();
  machine.processes().install(
      name, [&machine, &trainer, &witness, meetings, rank_program](SimProcessSelf& self) {
        const int life = static_cast<int>(meetings->size());
        meetings->push_back(std::make_unique<Meeting>(
            Meeting{.arrived = std::vector<std::uint64_t>(trainer.ranks)}));
        witness.starts(machine, life);
        return supervise(machine.world(), self, trainer.ranks, rank_program, life);
      });
  machine.processes().install(
      rank_program, [&machine, &trainer, &witness, meetings](SimProcessSelf& self) {
        const int life = std::stoi(self.spec().argv.at(1));
        const auto rank = static_cast<std::uint32_t>(std::stoul(self.spec().argv.at(2)));
        Meeting& meeting = *meetings->at(static_cast<std::size_t>(life));
        return RankLife(machine, trainer, witness, life, rank, meeting).run(self);
      });
}

}  // namespace outlast::sim
