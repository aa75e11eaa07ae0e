#include "sim/workloads/commit_race_workload.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "job/log_entry.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sim/workloads/commit_race.h"
#include "sim/workloads/noted_store.h"
#include "sim/workloads/workload.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/retrying_store.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

using checkpoint::CommitLog;
using std::chrono::milliseconds;
using Mistake = MishearingStore::Mistake;

constexpr std::size_t kMachines = 3;
constexpr int kTurnsEach = 3;
constexpr int kSavesPerTurn = 3;

class CommitRaceRun {
 public:
  explicit CommitRaceRun(const WorkloadOptions& options)
      : simulation_({.seed = options.seed, .keep_trace = options.keep_trace}),
        bug_(options.bug),
        server_(bucket_, simulation_.clock()),
        late_(server_),
        faults_(store::random_faults(Random(simulation_.random().next()),
                                     {.refused = 0.05,
                                      .answer_lost = 0.1,
                                      .late = 0.1,
                                      .cut = 0.05,
                                      .late_max = milliseconds(300),
                                      .delay_max = milliseconds(30)})) {
    for (std::size_t i = 0; i < kMachines; ++i) {
      machines_.push_back(&simulation_.add_machine(fmt::format("m{}", i)));
    }
  }

  Outcome run() {
    return simulation_.run([this] {
      std::vector<std::unique_ptr<sys::Thread>> operators;
      operators.reserve(machines_.size());
      for (Machine* machine : machines_) {
        operators.push_back(simulation_.threads().spawn(
            "of-" + machine->name(), [this, machine](const std::stop_token&) {
              for (int life = 1; life <= kTurnsEach; ++life) operate(*machine, life);
            }));
      }
      for (const auto& one : operators) one->join();
      late_.settle(kNever);
      check();
    });
  }

 private:
  void operate(Machine& machine, int life) {
    Random& random = simulation_.random();
    (void)simulation_.clock().sleep_for(milliseconds(random.between(0, 400)), {});
    if (random.chance(0.2)) stray(random.next());
    const bool upkeep = random.chance(0.2);
    const std::string who = fmt::format("{}.{}", machine.name(), life);
    machine.boot([this, who, upkeep](sys::World& world) { live(who, upkeep, world); },
                 {.crash_per_call = random.chance(0.5) ? 0.01 : 0});
    machine.wait_until_off({});
  }

  // Something that does not obey the log adds to it. Not in a log that cannot be read: that is
  // found in the end.
  void stray(std::uint64_t dice) {
    const auto log = read_whole_log(bucket_);
    if (!log || PlainHistory(*log).highest < 2) return;
    const job::LogEntry entry = stray_entry(*log, dice);
    simulation_.note("stray", fmt::format("{} at {}", to_string(entry.kind), entry.seq));
    const std::string text = job::encode_entry(entry);
    (void)bucket_.put(checkpoint::entry_key(entry.seq),
                      Bytes(as_bytes(text).begin(), as_bytes(text).end()), store::WriteIf::absent(),
                      {});
  }

  // One life: until the power fails, the store does for too long, or the turn is over.
  void live(const std::string& who, bool upkeep, sys::World& world) {
    store::MemoryStore memory(bucket_, world.clock);
    store::FaultyStore faulty(memory, world.clock, faults_, &late_);
    NotedStore noted(faulty, simulation_);
    store::RetryingStore retrying(noted, world.clock, world.random.fork(), {.attempts_max = 2});
    MishearingStore store(retrying, mistake_before_taking_over());
    Random twin(7);
    auto log = CommitLog::open({.store = store,
                                .threads = world.threads,
                                .clock = world.clock,
                                .random = bug_ == "twin-nonces" ? twin : world.random,
                                .writer = who},
                               {});
    if (!log) return simulation_.note("not opened", log.error().to_string());
    if (upkeep) return prune(*log, who, world.random);
    const auto epoch = log->take_over(who + " takes over", {});
    if (!epoch) return simulation_.note("not taken over", epoch.error().to_string());
    acknowledge(log->history().next() - 1, who + " takes over");
    if (bug_ == "deaf") store.set(Mistake::kHearNoFence);
    for (int i = 1; i <= kSavesPerTurn; ++i) {
      if (!save(*log, fmt::format("{} save {}", who, i))) return;
    }
  }

  Mistake mistake_before_taking_over() const {
    if (bug_ == "fence-unread") return Mistake::kLevelEpochs;
    if (bug_ == "believe-won") return Mistake::kBelieveWon;
    return bug_ == "put-blindly" ? Mistake::kPutBlindly : Mistake::kNone;
  }

  bool save(CommitLog& log, const std::string& why) {
    const job::Seq from = log.history().next();
    std::vector<job::Seq> shown;
    const auto objection = [&](const job::LogEntry& theirs) -> Result<void> {
      shown.push_back(theirs.seq);
      return {};
    };
    const auto place = log.append({.kind = job::EntryKind::kCheckpoint,
                                   .why = why,
                                   .checkpoint = {.manifests = {sha256(as_bytes(why))}}},
                                  objection, {});
    if (!place) {
      simulation_.note("not saved", place.error().to_string());
      if (place.error().code() != ErrorCode::kPreempted) return true;  // the next may do better
      stopped_.push_back({.why = why, .epoch = log.epoch(), .length = bucket_.object_count()});
      return false;
    }
    if (shown.size() != *place - from) {
      simulation_.fail(fmt::format("not shown: {} of the {} entries before {}", shown.size(),
                                   *place - from, why));
    }
    acknowledge(*place, why);
    return true;
  }

  // Upkeep: keeps some of what can be restored, if nobody adds anything meanwhile.
  void prune(CommitLog& log, const std::string& who, Random& random) {
    for (int i = 1; i <= 3; ++i) {
      if (!log.refresh({}) || !log.read_all({})) return;
      job::LogEntry draft{.kind = job::EntryKind::kPrune,
                          .why = fmt::format("{} prune {}", who, i)};
      draft.prune.kept = log.history().restorable();
      std::erase_if(draft.prune.kept, [&](job::Seq) { return random.chance(0.3); });
      const auto place = log.append(
          draft,
          [](const job::LogEntry&) { return Error(ErrorCode::kConditionFailed, "plan anew"); }, {});
      if (place) return acknowledge(*place, draft.why);
      simulation_.note("not pruned", place.error().to_string());
    }
  }

  void acknowledge(job::Seq place, const std::string& why) {
    simulation_.note("acknowledged", fmt::format("{} at {}", why, place));
    const auto [other, is_new] = acknowledged_.emplace(place, why);
    if (!is_new) {
      simulation_.fail(fmt::format("two winners: place {} was given to {} and to {}", place,
                                   other->second, why));
    }
  }

  void check() {
    const auto log = read_whole_log(bucket_);
    if (!log) return simulation_.fail("a gap, or what is no entry: " + log.error().to_string());
    for (const auto& [place, why] : acknowledged_) {
      const std::string found = place <= log->size() ? (*log)[place - 1].why : "nothing";
      if (found != why) {
        return simulation_.fail(
            fmt::format("lost: {} was acknowledged at place {}, where {} is", why, place, found));
      }
    }
    if (const auto fault = find_fault(*log)) return simulation_.fail(*fault);
    for (const Stopped& one : stopped_) {
      const auto end = log->begin() + static_cast<std::ptrdiff_t>(one.length);
      if (PlainHistory({log->begin(), end}).highest <= one.epoch) {
        return simulation_.fail(
            fmt::format("stopped for nothing: {}, of epoch {}", one.why, one.epoch));
      }
    }
    check_reader(PlainHistory(*log));
  }

  // As the next machine would read it.
  void check_reader(const PlainHistory& whole) {
    MishearingStore store(server_, bug_ == "count-all" ? Mistake::kLevelEpochs : Mistake::kNone);
    Random random = simulation_.random().fork();
    auto log = CommitLog::open({.store = store,
                                .threads = simulation_.threads(),
                                .clock = simulation_.clock(),
                                .random = random},
                               {});
    if (!log) return simulation_.fail("not readable: " + log.error().to_string());
    const bool ended = log->history().ended() == whole.ended;
    if (!log->read_all({}) || log->history().restorable() != whole.restorable || !ended) {
      simulation_.fail("a reader finds other checkpoints, or another ending");
    }
  }

  Simulation simulation_;
  const std::string bug_;
  store::MemoryBucket bucket_;  // outlives every life of every machine
  store::MemoryStore server_;
  store::LateWrites late_;
  const store::FaultPlan faults_;
  std::vector<Machine*> machines_;
  std::map<job::Seq, std::string> acknowledged_;  // what, by place
  // Who was told that its turn is over, and how long the log was then.
  struct Stopped {
    std::string why = {};
    job::Epoch epoch = 0;
    std::size_t length = 0;
  };
  std::vector<Stopped> stopped_;
};

}  // namespace

Workload commit_race_workload() {
  return {
      .name = "commit-race",
      .summary = "machines that take one job over from each other while the store loses answers",
      .bugs = {{.name = "fence-unread",
                .summary = "takes over without having read which epochs there were"},
               {.name = "deaf", .summary = "goes past a fence without noticing it"},
               {.name = "believe-won", .summary = "takes a write whose answer was lost for done"},
               {.name = "put-blindly", .summary = "writes an entry whoever was there before"},
               {.name = "twin-nonces", .summary = "takes the entries of others for its own"},
               {.name = "count-all",
                .summary = "a reader for whom everything counts that is in the log"}},
      .run = [](const WorkloadOptions& options) { return CommitRaceRun(options).run(); }};
}

}  // namespace outlast::sim
