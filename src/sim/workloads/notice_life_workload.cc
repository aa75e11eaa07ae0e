#include "sim/workloads/notice_life_workload.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
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
#include "base/ids.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "job/log_entry.h"
#include "job/spec.h"
#include "notice/cloud_sources.h"
#include "notice/notice_source.h"
#include "sim/kernel.h"
#include "sim/sim_network.h"
#include "sim/simulation.h"
#include "sim/workloads/sim_trainer.h"
#include "sim/workloads/workload.h"
#include "stand_in/metadata_stand_in.h"
#include "store/memory_store.h"
#include "sys/call_context.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

namespace outlast::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kCloudLivesMax = 40;
constexpr Duration kCloudGrace = seconds(30);
// Heard with so much left, a save always fits: a step and a commit take far less.
constexpr Duration kEnoughLeft = seconds(15);
// In calm weather, from the announcement to the agent: the slowest poll, and then some.
constexpr Duration kHeardBy = seconds(10);
constexpr std::string_view kCloudJob = "j";
constexpr std::string_view kCloudWork = "/work";
constexpr std::string_view kCloudTrainer = "trainer";
constexpr std::string_view kService = "metadata";

struct CloudWays {
  std::string_view name;
  Duration notice_time;  // that it gives
};
constexpr std::array<CloudWays, 3> kClouds = {
    {{"gce", seconds(30)}, {"ec2", seconds(120)}, {"azure", seconds(30)}}};

// What became of one life.
struct CloudLife {
  std::optional<MonoTime> announced = {};
  bool is_withdrawn = false;
  std::optional<Duration> heard_with = {};  // so much left
};

class NoticeLifeRun {
 public:
  explicit NoticeLifeRun(const WorkloadOptions& options)
      : simulation_({.seed = options.seed, .keep_trace = options.keep_trace}), bug_(options.bug) {
    Random& random = simulation_.random();
    cloud_ = kClouds.at(random.below(kClouds.size()));
    is_calm_ = random.chance(0.5);
    trainer_.manner = random.chance(0.5) ? TrainerManner::kPolite : TrainerManner::kLies;
    trainer_.steps = 30 + random.below(60);
    trainer_.save_every = 1000;  // hardly ever by itself: what counts is what it is asked for
    trainer_.step_time = milliseconds(500 + random.below(1500));
    trainer_.folder = fmt::format("{}/ckpt", kCloudWork);
    trainer_.finished = [this](std::uint64_t learnt) {
      finished_ = true;
      if (learnt != all_learnt(trainer_.steps)) {
        simulation_.fail("the trainer learnt something else than without interruption");
      }
    };
    trainer_.began = [this](std::optional<std::uint64_t> step) { begins(step); };
    trainer_.reached = [this](std::uint64_t step) { reached_ = step; };
  }

  Outcome run() {
    return simulation_.run([this] {
      if (!is_calm_) {
        simulation_.network().set_weather({.refused = 0.05,
                                           .request_lost = 0.05,
                                           .answer_lost = 0.05,
                                           .answer_cut = 0.05,
                                           .overloaded = 0.1,
                                           .stalls = 0.02});
      }
      Machine& machine = simulation_.add_machine("m");
      machine.processes().install(std::string(kCloudTrainer), make_trainer(machine, trainer_));
      for (int life = 0; !has_ended_; ++life) {
        if (life == kCloudLivesMax) {
          return simulation_.fail(fmt::format("the job has not ended after {} lives", life));
        }
        operate(machine, life);
      }
      if (!finished_) simulation_.fail("done, and the trainer has not finished");
    });
  }

 private:
  // --- What the cloud does with a machine ---

  void operate(Machine& machine, int number) {
    Random& random = simulation_.random();
    auto made = stand_in::make_stand_in(cloud_.name, simulation_.clock(), simulation_.threads());
    if (!made) return simulation_.fail(made.error().to_string());
    service_ = *std::move(made);
    simulation_.network().serve(std::string(kService), service_->handler());
    for (auto& [name, value] : service_->environment(fmt::format("http://{}", kService))) {
      machine.environment().variables[name] = value;
    }
    life_ = {};
    machine.boot([&](sys::World& world) { live(world); }, {});
    // As the job comes along, machines live longer, so that every job can end.
    const auto length = seconds(5 + random.below(20 + static_cast<std::uint64_t>(number) * 10));
    const double fate = random.unit();
    if (!machine.wait_until_off(until(length))) {
      if (fate < 0.2) withdraw_one(machine);
      if (fate < 0.8) announce(machine);
      if (machine.is_on()) {
        simulation_.note("the machine is gone");
        machine.crash();
      }
    }
    machine.wait_until_off({});
    service_->release_waiting();
    simulation_.network().stop_serving(std::string(kService));
    judge();
  }

  // Returns when the machine ends.
  MonoTime say() {
    simulation_.note("announced");
    const MonoTime now = simulation_.clock().mono_now();
    life_.announced = now;
    life_.is_withdrawn = false;
    service_->announce(cloud_.notice_time);
    return saturating_add(now, cloud_.notice_time);
  }

  void withdraw_one(Machine& machine) {
    (void)say();
    if (machine.wait_until_off(until(milliseconds(simulation_.random().below(6000))))) return;
    simulation_.note("withdrawn");
    life_.is_withdrawn = true;
    service_->withdraw();
    (void)machine.wait_until_off(until(seconds(20)));
  }

  // Until the machine is off, or its time is over, or it has said that it need not wait.
  void announce(Machine& machine) {
    if (!machine.is_on()) return;
    const bool is_other = life_.announced.has_value();
    if (is_other) life_.heard_with.reset();  // this one is to be heard as well
    const MonoTime ends = say();
    while (simulation_.clock().mono_now() < ends && service_->acknowledgements() == 0) {
      if (machine.wait_until_off(until(milliseconds(500)))) return;
    }
  }

  sys::CallContext until(Duration length) {
    return {.deadline = saturating_add(simulation_.clock().mono_now(), length)};
  }

  // --- One life of the agent ---

  class Front : public agent::Front {
   public:
    explicit Front(NoticeLifeRun& run) : run_(run) {}
    void printed(bool /*is_err*/, std::string_view /*piece*/,
                 const sys::CallContext& /*ctx*/) override {}
    void happened(const agent::Event& event) override { run_.happened(event); }
    void stands(const agent::Beat& /*beat*/) override {}
    Duration stands_every() const override { return std::chrono::hours(1); }

   private:
    NoticeLifeRun& run_;
  };

  // Sources say once when their service is away; a history may show it.
  class StoryLog : public LogSink {
   public:
    explicit StoryLog(Simulation& simulation) : simulation_(simulation) {}
    void write(LogRecord record) override { simulation_.note(record.event); }

   private:
    Simulation& simulation_;
  };

  static job::Spec spec() {
    job::Spec spec;
    spec.name = JobName(std::string(kCloudJob));
    spec.grace = kCloudGrace;
    spec.checkpoint.every = {.unit = job::CheckpointEvery::Unit::kTime, .time = seconds(60)};
    return spec;
  }

  void live(sys::World& world) {
    store::MemoryStore root(bucket_, world.clock);
    Front front(*this);
    StoryLog log(simulation_);
    auto work = agent::WorkFolder::open(world.files, world.clock, trainer_.folder, {});
    if (!work) return simulation_.fail("no work folder: " + work.error().to_string());
    auto begun = agent::begin_attempt(
        root, world,
        {.spec = spec(),
         .agent = {.host = "m"},
         .writer = "m",
         .take_over_now = true,
         .root_patience = seconds(30),
         .tell = [](agent::EventLevel, const std::string&, const std::string&) {}},
        {});
    if (!begun) return simulation_.fail("not begun: " + begun.error().to_string());
    if (std::holds_alternative<job::LogEntry>(*begun)) {
      has_ended_ = true;
      return;
    }
    auto sources = notice::make_cloud_sources(cloud_.name, world, Logger(log), kCloudGrace);
    if (!sources) return simulation_.fail(sources.error().to_string());
    if (bug_ == "deaf") sources->clear();
    sources_ = sources->empty() ? nullptr : sources->front().get();
    agent::Attempt attempt(
        {.world = world, .root = root, .work = *work, .front = front},
        {.spec = spec(),
         .trainer = {.argv = {std::string(kCloudTrainer)}, .folder = std::string(kCloudWork)},
         .command = std::string(kCloudTrainer),
         .agent = {.host = "m"},
         .recognise = trainer_files::Recognise::kEverything},
        std::get<agent::Begun>(*std::move(begun)));
    const agent::AttemptEnding ending = attempt.run(*std::move(sources));
    simulation_.note("attempt ended", std::string(agent::to_string(ending.outcome)));
    has_ended_ = ending.outcome == agent::AttemptOutcome::kDone;
  }

  // --- What must hold ---

  void happened(const agent::Event& event) {
    simulation_.note(event.kind, event.sentence);
    if (event.kind != "notice") return;
    if (!life_.announced) return simulation_.fail("a notice that nobody gave: " + event.sentence);
    // In truth: a cloud that does not say when it began leaves less than it seems to who hears of
    // it late.
    life_.heard_with =
        saturating_add(*life_.announced, cloud_.notice_time) - simulation_.clock().mono_now();
    if (bug_ == "ack-first" && sources_ != nullptr) (void)sources_->release({}, {});
  }

  // After a life: was what was said heard?
  void judge() {
    const bool had_time = life_.announced && !life_.is_withdrawn &&
                          simulation_.clock().mono_now() - *life_.announced > kHeardBy;
    if (is_calm_ && had_time && !life_.heard_with && !has_ended_) {
      simulation_.fail("a notice was given and never heard");
    }
    // Who was asked to leave leaves, also when the notice is withdrawn meanwhile.
    is_all_safe_ = life_.heard_with && *life_.heard_with >= kEnoughLeft && !life_.is_withdrawn;
  }

  // The next life begins: with everything, if the one before was told in time.
  void begins(std::optional<std::uint64_t> step) {
    simulation_.note("trainer begins", step ? fmt::format("at step {}", *step) : "torn");
    if (!step) return simulation_.fail("the trainer was given a torn file");
    if (std::exchange(is_all_safe_, false) && *step < reached_) {
      simulation_.fail(fmt::format("the end was known in time, and steps {} to {} are lost",
                                   *step + 1, reached_));
    }
    reached_ = *step;
  }

  Simulation simulation_;
  const std::string bug_;
  store::MemoryBucket bucket_;  // outlives every life
  CloudWays cloud_ = {};
  bool is_calm_ = true;
  SimTrainer trainer_;
  std::unique_ptr<stand_in::MetadataStandIn> service_;
  notice::NoticeSource* sources_ = nullptr;  // of the life that is on
  CloudLife life_;
  bool is_all_safe_ = false;  // what the life before had done
  std::uint64_t reached_ = 0;
  bool finished_ = false;
  bool has_ended_ = false;
};

}  // namespace

Workload notice_life_workload() {
  return {.name = "notice-life",
          .summary = "a job on machines whose cloud says when they end",
          .bugs = {{.name = "deaf", .summary = "does not listen to the cloud"},
                   {.name = "ack-first",
                    .summary = "tells the cloud to go ahead before anything is saved"}},
          .run = [](const WorkloadOptions& options) { return NoticeLifeRun(options).run(); }};
}

}  // namespace outlast::sim
