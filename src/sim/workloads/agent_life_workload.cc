#include "sim/workloads/agent_life_workload.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/work_folder.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/layout.h"
#include "checkpoint/verify.h"
#include "job/log_entry.h"
#include "job/spec.h"
#include "job/trainer_end.h"
#include "notice/notice_source.h"
#include "notice/signal_source.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sim/workloads/commit_race.h"
#include "sim/workloads/noted_store.h"
#include "sim/workloads/sim_trainer.h"
#include "sim/workloads/workload.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/retrying_store.h"
#include "sys/call_context.h"
#include "sys/threads.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

namespace outlast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Mistake = MishearingStore::Mistake;

constexpr std::size_t kAgentMachines = 2;
constexpr int kLivesMax = 40;  // of all machines; a job that has not ended by then never does
constexpr Duration kGrace = seconds(10);
constexpr std::string_view kAgentJob = "j";
constexpr std::string_view kWork = "/work";
constexpr std::string_view kTrainer = "trainer";

class AgentLifeRun {
 public:
  explicit AgentLifeRun(const WorkloadOptions& options)
      : simulation_({.seed = options.seed, .keep_trace = options.keep_trace}),
        bug_(options.bug),
        server_(bucket_, simulation_.clock()),
        late_(server_),
        faults_(store::random_faults(Random(simulation_.random().next()),
                                     {.refused = 0.02,
                                      .answer_lost = 0.02,
                                      .late = 0.02,
                                      .cut = 0.02,
                                      .late_max = milliseconds(500),
                                      .delay_max = milliseconds(50)})) {
    Random& random = simulation_.random();
    trainer_.manner = static_cast<TrainerManner>(random.below(4));
    trainer_.steps = 8 + random.below(16);
    trainer_.save_every = 2 + random.below(4);
    trainer_.step_time = milliseconds(500 + random.below(2000));
    trainer_.crash_per_step = random.chance(0.3) ? 0.03 : 0;
    is_named_ = random.chance(0.5);
    trainer_.folder = fmt::format("{}/ckpt", kWork);
    trainer_.finished = [this](std::uint64_t learnt) {
      simulation_.note("finished");
      finished_ = true;
      if (learnt != all_learnt(trainer_.steps)) {
        simulation_.fail("the trainer learnt something else than without interruption");
      }
    };
    trainer_.began = [this](std::optional<std::uint64_t> step) {
      simulation_.note("trainer begins", step ? fmt::format("at step {}", *step) : "torn");
      if (!step) simulation_.fail("the trainer was given a torn file");
    };
  }

  Outcome run() {
    return simulation_.run([this] {
      std::vector<std::unique_ptr<sys::Thread>> operators;
      for (std::size_t i = 0; i < kAgentMachines; ++i) {
        Machine& machine = simulation_.add_machine(fmt::format("m{}", i));
        machine.processes().install(std::string(kTrainer), make_trainer(machine, trainer_));
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
  // --- What happens to a machine ---

  void operate(Machine& machine, bool is_first) {
    Random& random = simulation_.random();
    // The second one joins in now and then: somebody believes that the first has vanished.
    const Duration pause =
        is_first ? milliseconds(random.below(5000)) : Duration(seconds(20 + random.below(200)));
    (void)simulation_.clock().sleep_for(pause, {});
    if (has_ended()) return;
    if (++lives_ > kLivesMax) {
      is_given_up_ = true;
      return simulation_.fail(fmt::format("the job has not ended after {} lives", kLivesMax));
    }
    const bool take_over_now = random.chance(0.5);
    machine.boot([&, take_over_now](sys::World& world) { live(world, machine, take_over_now); },
                 {});
    // As the job comes along, machines live longer, so that every job can end.
    const auto life = seconds(5 + random.below(30 + static_cast<std::uint64_t>(lives_) * 10));
    const bool is_noticed = random.chance(0.5);
    if (machine.wait_until_off(until(life))) return;
    if (is_noticed) {
      simulation_.note("preempted", "with notice");
      machine.signal(SIGTERM);
      // Clouds keep their word, nearly always.
      const Duration left =
          random.chance(0.2) ? Duration(milliseconds(random.below(10'000))) : kGrace + seconds(1);
      if (machine.wait_until_off(until(left))) return;
    }
    if (machine.is_on()) machine.crash();
    machine.wait_until_off({});
  }

  sys::CallContext until(Duration length) {
    return {.deadline = saturating_add(simulation_.clock().mono_now(), length)};
  }

  // --- One life of the agent ---

  class Front : public agent::Front {
   public:
    explicit Front(AgentLifeRun& run) : run_(run) {}
    void printed(bool /*is_err*/, std::string_view /*piece*/,
                 const sys::CallContext& /*ctx*/) override {}
    void happened(const agent::Event& event) override { run_.happened(event, epoch); }
    void stands(const agent::Beat& /*beat*/) override {}
    Duration stands_every() const override { return std::chrono::hours(1); }

    job::Epoch epoch = 0;

   private:
    AgentLifeRun& run_;
  };

  // A machine's way to the bucket.
  struct Way {
    Way(AgentLifeRun& run, sys::World& world)
        : memory(run.bucket_, world.clock),
          faulty(memory, world.clock, run.faults_, &run.late_),
          noted(faulty, run.simulation_),
          retrying(noted, world.clock, world.random.fork(), {.attempts_max = 4}),
          store(retrying, Mistake::kNone) {}
    store::MemoryStore memory;
    store::FaultyStore faulty;
    NotedStore noted;
    store::RetryingStore retrying;
    MishearingStore store;
  };

  job::Spec spec() const {
    job::Spec spec;
    spec.name = JobName(std::string(kAgentJob));
    spec.grace = kGrace;
    spec.retries = 100;
    spec.checkpoint.every = {.unit = job::CheckpointEvery::Unit::kTime, .time = seconds(3)};
    return spec;
  }

  void live(sys::World& world, Machine& machine, bool take_over_now) {
    Way way(*this, world);
    Front front(*this);
    const std::string watched = is_named_ ? trainer_.folder : std::string(kWork);
    auto work = agent::WorkFolder::open(world.files, world.clock, watched, {});
    if (!work) return simulation_.note("no work folder", work.error().to_string());
    auto signals = notice::SignalSource::make(world.own_signals, world.clock, kGrace);
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
    if (bug_ == "deaf") way.store.set(Mistake::kHearNoFence);
    agent::AttemptOptions options = {
        .spec = spec(),
        .trainer = {.argv = {std::string(kTrainer)}, .folder = std::string(kWork)},
        .command = std::string(kTrainer),
        .agent = self};
    if (is_named_) options.recognise = trainer_files::Recognise::kEverything;
    if (bug_ == "believe-0") {
      options.judge = [](const job::TrainerExit& exit, bool, const job::ExitCodes& codes) {
        return job::judge_end(exit, false, codes);
      };
    }
    agent::Attempt attempt({.world = world, .root = way.store, .work = *work, .front = front},
                           std::move(options), std::move(turn));
    std::vector<std::unique_ptr<notice::NoticeSource>> sources;
    sources.push_back(*std::move(signals));
    const agent::AttemptEnding ending = attempt.run(std::move(sources));
    simulation_.note("attempt ended", std::string(agent::to_string(ending.outcome)));
  }

  // --- What must hold ---

  void happened(const agent::Event& event, job::Epoch epoch) {
    simulation_.note(event.kind, event.sentence);
    if (event.kind == "saved") {
      const auto seq = event.facts.at("checkpoint").get<job::Seq>();
      newest_of_[epoch] = std::max(newest_of_[epoch], seq);
    }
    if (event.kind == "resumed" || event.kind == "began") {
      const job::Seq restored =
          event.facts.contains("checkpoint") ? event.facts.at("checkpoint").get<job::Seq>() : 0;
      for (const auto& [other, seq] : newest_of_) {
        if (other < epoch && seq > restored) {
          simulation_.fail(
              fmt::format("lost: checkpoint {} was acknowledged, and attempt {} went "
                          "on from {}",
                          seq, epoch, restored));
        }
      }
    }
    if (event.kind == "done" && !finished_) {
      simulation_.fail("the job is called done, and the trainer has not finished");
    }
  }

  std::vector<job::LogEntry> log() const {
    std::vector<job::LogEntry> entries;
    const std::string folder = fmt::format("jobs/{}/", kAgentJob);
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
    if (!finished_) return simulation_.fail("done, and the trainer has not finished");
    for (const auto& [epoch, seq] : newest_of_) {
      const bool is_there = std::ranges::find(whole.restorable, seq) != whole.restorable.end();
      if (!is_there && seq > entries.back().seq) {
        return simulation_.fail(fmt::format("lost: checkpoint {} of attempt {}", seq, epoch));
      }
    }
    Random random = simulation_.random().fork();
    Machine& reader = simulation_.add_machine("reader");
    auto job = checkpoint::Checkpoints::open({.root = server_,
                                              .files = reader.world().files,
                                              .threads = simulation_.threads(),
                                              .clock = simulation_.clock(),
                                              .random = random},
                                             std::string(kAgentJob), {});
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
  store::MemoryBucket bucket_;  // outlives every life of every machine
  store::MemoryStore server_;
  store::LateWrites late_;
  const store::FaultPlan faults_;
  SimTrainer trainer_;
  bool is_named_ = false;  // the folder of the checkpoints: or they are to be found
  int lives_ = 0;
  bool finished_ = false;
  bool is_given_up_ = false;
  std::map<job::Epoch, job::Seq> newest_of_;  // that was acknowledged to a person, by attempt
};

}  // namespace

Workload agent_life_workload() {
  return {.name = "agent-life",
          .summary = "a job that is trained on machines that vanish, with and without notice",
          .bugs = {{.name = "deaf", .summary = "commits after another attempt's fence"},
                   {.name = "believe-0",
                    .summary = "takes an exit with 0 for done although it was asked for"}},
          .run = [](const WorkloadOptions& options) { return AgentLifeRun(options).run(); }};
}

}  // namespace outlast::sim
