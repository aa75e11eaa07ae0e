#include "sim/workloads/snapshot_life_workload.h"

#include <fmt/core.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agent/arena.h"
#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/work_folder.h"
#include "base/encoding.h"
#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/layout.h"
#include "checkpoint/verify.h"
#include "job/log_entry.h"
#include "job/spec.h"
#include "notice/notice_source.h"
#include "notice/signal_source.h"
#include "sdk/arena.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sim/workloads/commit_race.h"
#include "sim/workloads/noted_store.h"
#include "sim/workloads/snapshot_checks.h"
#include "sim/workloads/snapshot_trainer.h"
#include "sim/workloads/workload.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/retrying_store.h"
#include "sys/call_context.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kSnapshotMachines = 2;
constexpr int kSnapshotLivesMax =
    40;  // of all machines; a job that has not ended by then never does
constexpr Duration kSnapshotGrace = seconds(20);
constexpr Duration kSnapshotEvery = seconds(3);
constexpr std::uint64_t kSnapshotEverySteps = 5;
constexpr std::string_view kSnapshotJob = "j";
constexpr std::string_view kSnapshotWork = "/work";
constexpr std::string_view kSnapshotTrainer = "trainer";

// What each rank had last, whatever the others have.
std::optional<agent::JobSnapshot> newest_of_each(
    const std::vector<std::shared_ptr<agent::Arena>>& arenas) {
  agent::JobSnapshot snapshot;
  for (const std::shared_ptr<agent::Arena>& arena : arenas) {
    const std::vector<sdk::SlotSnapshot> whole =
        arena ? arena->whole() : std::vector<sdk::SlotSnapshot>();
    if (whole.empty()) return std::nullopt;
    snapshot.step = whole.front().step;
    snapshot.parts.push_back({.arena = arena, .snapshot = whole.front()});
  }
  if (snapshot.parts.empty()) return std::nullopt;
  return snapshot;
}

class SnapshotLifeRun {
 public:
  explicit SnapshotLifeRun(const WorkloadOptions& options)
      : simulation_({.seed = options.seed, .keep_trace = options.keep_trace}),
        bug_(options.bug),
        trainer_(make_trainer(simulation_.random())),
        server_(bucket_, simulation_.clock()),
        late_(server_),
        faults_(store::random_faults(Random(simulation_.random().next()),
                                     {.refused = 0.02,
                                      .answer_lost = 0.02,
                                      .late = 0.02,
                                      .cut = 0.02,
                                      .late_max = milliseconds(500),
                                      .delay_max = milliseconds(100)})) {
    Random& random = simulation_.random();
    is_by_steps_ = random.chance(0.3);
    has_little_memory_ = random.chance(0.2);
    trainer_.says_begun = bug_ != "late-begun";
    // Who overwrites its only slot while that is read may do so whenever it is read.
    if (!has_little_memory_ || trainer_.minds_reading || trainer_.save_every == 0) {
      checks_.expect_saves(
          is_by_steps_ ? kSnapshotEverySteps
                       : 1 + static_cast<std::uint64_t>(kSnapshotEvery / trainer_.step_time));
    }
  }

  Outcome run() {
    return simulation_.run([this] {
      std::vector<std::unique_ptr<sys::Thread>> operators;
      for (std::size_t i = 0; i < kSnapshotMachines; ++i) {
        Machine& machine = simulation_.add_machine(fmt::format("m{}", i));
        install_snapshot_trainer(machine, std::string(kSnapshotTrainer), trainer_, checks_);
        // Room for one snapshot of each rank, and a half.
        if (has_little_memory_) {
          machine.shared_memories().set_available(trainer_.bytes_max() * trainer_.ranks * 5 / 3);
        }
        operators.push_back(simulation_.threads().spawn(
            fmt::format("of-m{}", i), [this, &machine, i](const std::stop_token&) {
              while (!has_ended() && !is_given_up_) operate(machine, i == 0);
            }));
      }
      for (const auto& one : operators) one->join();
      late_.settle(kNever);
      if (!is_given_up_) check();
    });
  }

 private:
  static SnapshotTrainer make_trainer(Random& random) {
    SnapshotTrainer trainer;
    trainer.ranks = 1 + static_cast<std::uint32_t>(random.below(3));
    trainer.steps = 10 + random.below(40);
    trainer.save_every = random.chance(0.6) ? 1 + random.below(4) : 0;
    trainer.only_first_saves = random.chance(0.3);
    trainer.words = 50 + random.below(500);
    trainer.grows = random.chance(0.3);
    trainer.minds_reading = random.chance(0.7);
    trainer.leaves_with_0 = random.chance(0.3);
    trainer.end = static_cast<SnapshotTrainer::End>(random.below(3));
    trainer.step_time = milliseconds(200 + random.below(600));
    trainer.crash_per_step = random.chance(0.5) ? 0.02 : 0;
    trainer.crash_per_piece = random.chance(0.5) ? 0.03 : 0;
    return trainer;
  }

  // --- What happens to a machine ---

  void operate(Machine& machine, bool is_first) {
    Random& random = simulation_.random();
    // The second one joins in now and then: somebody believes that the first has vanished.
    const Duration pause =
        is_first ? milliseconds(random.below(5000)) : Duration(seconds(10 + random.below(100)));
    (void)simulation_.clock().sleep_for(pause, {});
    if (has_ended()) return;
    if (++lives_ > kSnapshotLivesMax) {
      is_given_up_ = true;
      return simulation_.fail(
          fmt::format("the job has not ended after {} lives", kSnapshotLivesMax));
    }
    const bool take_over_now = random.chance(0.5);
    machine.boot([&, take_over_now](sys::World& world) { live(world, machine, take_over_now); },
                 {});
    // As the job comes along, machines live longer, so that every job can end.
    const auto life = seconds(5 + random.below(20 + static_cast<std::uint64_t>(lives_) * 10));
    const double fate = random.unit();
    if (!machine.wait_until_off(until(life))) end(machine, fate);
    machine.wait_until_off({});
    checks_.machine_is_off(machine);
  }

  void end(Machine& machine, double fate) {
    Random& random = simulation_.random();
    if (fate < 0.5) {
      // Clouds keep their word, nearly always.
      const bool is_kept = random.chance(0.8);
      simulation_.note("preempted", is_kept ? "with notice" : "with less notice than it says");
      if (is_kept) checks_.noticed(machine, kSnapshotGrace);
      machine.signal(SIGTERM);
      const Duration left =
          is_kept ? kSnapshotGrace + seconds(1) : Duration(milliseconds(random.below(15'000)));
      if (machine.wait_until_off(until(left))) return;
    } else if (fate < 0.7) {
      simulation_.note("the agent is killed");
      return machine.signal(SIGKILL);
    }
    if (machine.is_on()) machine.crash();
  }

  sys::CallContext until(Duration length) {
    return {.deadline = saturating_add(simulation_.clock().mono_now(), length)};
  }

  // --- One life of the agent ---

  class Front : public agent::Front {
   public:
    explicit Front(SnapshotLifeRun& run) : run_(run) {}
    void printed(bool /*is_err*/, std::string_view /*piece*/,
                 const sys::CallContext& /*ctx*/) override {}
    void happened(const agent::Event& event) override { run_.checks_.happened(event, epoch); }
    void stands(const agent::Beat& /*beat*/) override {}
    Duration stands_every() const override { return std::chrono::hours(1); }

    job::Epoch epoch = 0;

   private:
    SnapshotLifeRun& run_;
  };

  // A machine's way to the bucket.
  struct Way {
    Way(SnapshotLifeRun& run, sys::World& world)
        : memory(run.bucket_, world.clock),
          faulty(memory, world.clock, run.faults_, &run.late_),
          noted(faulty, run.simulation_),
          store(noted, world.clock, world.random.fork(), {.attempts_max = 4}) {}
    store::MemoryStore memory;
    store::FaultyStore faulty;
    NotedStore noted;
    store::RetryingStore store;
  };

  job::Spec spec() const {
    using Unit = job::CheckpointEvery::Unit;
    job::Spec spec;
    spec.name = JobName(std::string(kSnapshotJob));
    spec.grace = kSnapshotGrace;
    spec.retries = 100;
    spec.checkpoint.every = {.unit = Unit::kTime, .time = kSnapshotEvery};
    if (is_by_steps_) {
      spec.checkpoint.every = {.unit = Unit::kSteps, .count = kSnapshotEverySteps};
    }
    if (bug_ == "rare") spec.checkpoint.every = {.unit = Unit::kTime, .time = seconds(60)};
    return spec;
  }

  void live(sys::World& world, Machine& machine, bool take_over_now) {
    Way way(*this, world);
    Front front(*this);
    auto work = agent::WorkFolder::open(world.files, world.clock, std::string(kSnapshotWork), {});
    if (!work) return simulation_.note("no work folder", work.error().to_string());
    auto signals = notice::SignalSource::make(world.own_signals, world.clock, kSnapshotGrace);
    if (!signals) return simulation_.fail("cannot listen: " + signals.error().to_string());
    const agent::AgentId self = {.host = machine.name()};
    auto begun = agent::begin_attempt(
        way.store, world,
        {.spec = spec(),
         .agent = self,
         .writer = machine.name(),
         .take_over_now = take_over_now,
         .root_patience = seconds(30),
         .tell = [this](agent::EventLevel, const std::string& kind,
                        const std::string& sentence) { simulation_.note(kind, sentence); }},
        {});
    if (!begun) return simulation_.note("not begun", begun.error().to_string());
    if (std::holds_alternative<job::LogEntry>(*begun)) return simulation_.note("it has ended");
    agent::Begun turn = std::get<agent::Begun>(*std::move(begun));
    front.epoch = turn.epoch;
    checks_.agent_begins(machine, turn.epoch);
    agent::AttemptOptions options = {
        .spec = spec(),
        .trainer = {.argv = {std::string(kSnapshotTrainer)}, .folder = std::string(kSnapshotWork)},
        .command = std::string(kSnapshotTrainer),
        .agent = self};
    if (bug_ == "mixed-ranks") options.newest_snapshot = newest_of_each;
    agent::Attempt attempt({.world = world, .root = way.store, .work = *work, .front = front},
                           std::move(options), std::move(turn));
    std::vector<std::unique_ptr<notice::NoticeSource>> sources;
    sources.push_back(*std::move(signals));
    const agent::AttemptEnding ending = attempt.run(std::move(sources));
    simulation_.note("attempt ended", std::string(agent::to_string(ending.outcome)));
  }

  // --- What must hold in the end ---

  std::vector<job::LogEntry> log() const {
    std::vector<job::LogEntry> entries;
    const std::string folder = fmt::format("jobs/{}/", kSnapshotJob);
    for (job::Seq seq = 1;; ++seq) {
      const auto found = bucket_.find(folder + checkpoint::entry_key(seq), {});
      if (!found) return entries;
      const auto entry = job::decode_entry(as_text(*found->bytes), seq);
      if (entry) entries.push_back(*entry);
    }
  }

  bool has_ended() const { return PlainHistory(log()).ended != 0; }

  void check() {
    const std::vector<job::LogEntry> entries = log();
    if (const auto fault = find_fault(entries, Whys::kOrdinary)) return simulation_.fail(*fault);
    const PlainHistory whole(entries);
    if (whole.ended == 0) return simulation_.fail("the job was ended, and then begun again");
    if (entries.at(whole.ended - 1).kind != job::EntryKind::kDone) {
      return simulation_.fail("the job has not ended well: " + entries.at(whole.ended - 1).why);
    }
    if (!checks_.has_finished()) {
      return simulation_.fail("done, and the trainer has not finished");
    }
    Random random = simulation_.random().fork();
    Machine& reader = simulation_.add_machine("reader");
    auto job = checkpoint::Checkpoints::open({.root = server_,
                                              .files = reader.world().files,
                                              .threads = simulation_.threads(),
                                              .clock = simulation_.clock(),
                                              .random = random},
                                             std::string(kSnapshotJob), {});
    if (!job) return simulation_.fail("not readable: " + job.error().to_string());
    const auto report = (*job)->verify({.full = true}, {});
    if (!report) return simulation_.fail("not verifiable: " + report.error().to_string());
    if (report->has_damage()) {
      simulation_.fail("damage: " + report->findings.front().object + " " +
                       report->findings.front().sentence);
    }
  }

  Simulation simulation_;
  const std::string bug_;
  SnapshotTrainer trainer_;
  SnapshotChecks checks_{simulation_, trainer_};
  store::MemoryBucket bucket_;  // outlives every life of every machine
  store::MemoryStore server_;
  store::LateWrites late_;
  store::FaultPlan faults_;
  bool is_by_steps_ = false;
  bool has_little_memory_ = false;
  int lives_ = 0;
  bool is_given_up_ = false;
};

}  // namespace

Workload snapshot_life_workload() {
  return {.name = "snapshot-life",
          .summary = "a job whose trainer has its state in memory, on machines that come and go",
          .bugs = {{.name = "mixed-ranks",
                    .summary = "takes what each rank has, whatever step that is of"},
                   {.name = "rare", .summary = "saves less often than the job says"},
                   {.name = "late-begun",
                    .summary = "trainers overwrite a snapshot before they say so"}},
          .run = [](const WorkloadOptions& options) { return SnapshotLifeRun(options).run(); }};
}

}  // namespace outlast::sim
