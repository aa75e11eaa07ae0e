#include "sim/workloads/store_race_workload.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sim/workloads/noted_store.h"
#include "sim/workloads/store_race.h"
#include "sim/workloads/workload.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/retrying_store.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

using std::chrono::milliseconds;

constexpr int kRacers = 3;
constexpr int kDangerousRacerLives = 3;
constexpr int kAppendsPerRacer = 5;
constexpr int kIncrementsPerRacer = 4;

// What the racers know of their own, whatever happens to them. Plain data: only the holder of the
// baton touches it.
struct RacerLedger {
  int lives = 0;
  int appends_begun = 0;
  int appends_left = kAppendsPerRacer;
  int increments_left = kIncrementsPerRacer;
  std::uint64_t increments_begun = 0;
  std::uint64_t increments_acknowledged = 0;
};

class StoreRaceRun {
 public:
  explicit StoreRaceRun(const WorkloadOptions& options)
      : simulation_({.seed = options.seed, .keep_trace = options.keep_trace}),
        server_(bucket_, simulation_.clock()),
        late_(server_),
        faults_(store::random_faults(Random(simulation_.random().next()),
                                     {.refused = 0.1,
                                      .answer_lost = 0.1,
                                      .late = 0.1,
                                      .cut = 0.1,
                                      .late_max = milliseconds(300),
                                      .delay_max = milliseconds(50)})),
        ledgers_(kRacers) {
    if (options.bug == "believe-lost") in_doubt_ = InDoubt::kBelieveLost;
    if (options.bug == "believe-won") in_doubt_ = InDoubt::kBelieveWon;
    if (options.bug == "forget-doubt") in_doubt_ = InDoubt::kForgetItOnce;
    conditional_ = options.bug != "replace-blindly";
    for (int i = 0; i < kRacers; ++i) {
      racers_.push_back(&simulation_.add_machine(fmt::format("racer{}", i)));
    }
  }

  Outcome run() {
    return simulation_.run([this] {
      std::vector<std::unique_ptr<sys::Thread>> operators;
      operators.reserve(kRacers);
      for (std::size_t i = 0; i < kRacers; ++i) {
        operators.push_back(simulation_.threads().spawn(
            fmt::format("operator{}", i), [this, i](const std::stop_token&) { operate(i); }));
      }
      for (const auto& one : operators) one->join();
      late_.settle(kNever);
      check_log();
      check_counter();
    });
  }

 private:
  // Switches a racer on until it is done; in the end without danger to its power.
  void operate(std::size_t racer) {
    RacerLedger& ledger = ledgers_[racer];
    while (ledger.appends_left > 0 || ledger.increments_left > 0) {
      const bool dangerous = ++ledger.lives <= kDangerousRacerLives;
      racers_[racer]->boot([this, racer](sys::World& world) { race(racer, world); },
                           {.crash_per_call = dangerous ? 0.01 : 0});
      racers_[racer]->wait_until_off({});
    }
  }

  // One life: until the power fails, the store does for too long, or everything is done.
  void race(std::size_t racer, sys::World& world) {
    store::MemoryStore memory(bucket_, world.clock);
    store::FaultyStore faulty(memory, world.clock, faults_, &late_);
    NotedStore noted(faulty, simulation_);
    store::RetryingStore store(noted, world.clock, world.random.fork(), {.attempts_max = 2});
    RaceLog log(store, in_doubt_);
    RaceCounter counter(store, racers_[racer]->name(),
                        {.in_doubt = in_doubt_, .conditional = conditional_});
    if (!log.find_end({})) return;
    RacerLedger& ledger = ledgers_[racer];
    while (ledger.appends_left > 0 || ledger.increments_left > 0) {
      if (ledger.appends_left > 0 && !append(racer, log)) return;
      if (ledger.increments_left > 0 && !increment(racer, counter)) return;
    }
  }

  bool append(std::size_t racer, RaceLog& log) {
    RacerLedger& ledger = ledgers_[racer];
    // Unlike any other: also in the next life.
    const std::string entry =
        fmt::format("{} entry {}", racers_[racer]->name(), ++ledger.appends_begun);
    const Result<std::uint64_t> place = log.append(entry, {});
    if (!place) return false;
    --ledger.appends_left;
    simulation_.note("acknowledged", fmt::format("{} at {}", entry, *place));
    const auto [other, is_new] = acknowledged_.emplace(*place, entry);
    if (!is_new) {
      simulation_.fail(fmt::format("two winners: place {} was given to {} and to {}", *place,
                                   other->second, entry));
    }
    return true;
  }

  bool increment(std::size_t racer, RaceCounter& counter) {
    RacerLedger& ledger = ledgers_[racer];
    ++ledger.increments_begun;  // from here on it may be counted, whatever we hear
    const Result<std::uint64_t> count = counter.increment({});
    if (!count) return false;
    --ledger.increments_left;
    ++ledger.increments_acknowledged;
    simulation_.note("acknowledged", fmt::format("count {}", *count));
    return true;
  }

  std::optional<std::string> content_of(const std::string& key) {
    const auto found = bucket_.find(key, {});
    if (!found) return std::nullopt;
    return std::string(as_text(*found->bytes));
  }

  void check_log() {
    const store::ListPage page = bucket_.list({.prefix = "log/", .page_max = 1'000'000});
    std::set<std::string> entries;
    for (std::uint64_t place = 1; place <= page.objects.size(); ++place) {
      const std::optional<std::string> entry = content_of(RaceLog::key_of(place));
      if (!entry) return simulation_.fail(fmt::format("a gap: nothing is at place {}", place));
      if (!entries.insert(*entry).second) {
        return simulation_.fail(fmt::format("doubled: {} is at place {} once more", *entry, place));
      }
    }
    for (const auto& [place, entry] : acknowledged_) {
      const std::string found = content_of(RaceLog::key_of(place)).value_or("nothing");
      if (found != entry) {
        return simulation_.fail(
            fmt::format("lost: {} was acknowledged at place {}, where {} is", entry, place, found));
      }
    }
  }

  void check_counter() {
    RaceCounter::Counts counts = RaceCounter::parse(content_of(RaceCounter::key()).value_or(""));
    for (std::size_t i = 0; i < kRacers; ++i) {
      const RacerLedger& ledger = ledgers_[i];
      const std::uint64_t count = counts[racers_[i]->name()];
      if (count < ledger.increments_acknowledged || count > ledger.increments_begun) {
        return simulation_.fail(
            fmt::format("miscounted: {} shows {}; {} were acknowledged of {}", racers_[i]->name(),
                        count, ledger.increments_acknowledged, ledger.increments_begun));
      }
    }
  }

  Simulation simulation_;
  store::MemoryBucket bucket_;  // outlives every life of every machine
  store::MemoryStore server_;
  store::LateWrites late_;
  const store::FaultPlan faults_;
  InDoubt in_doubt_ = InDoubt::kReadBack;
  bool conditional_ = true;
  std::vector<Machine*> racers_;
  std::vector<RacerLedger> ledgers_;
  std::map<std::uint64_t, std::string> acknowledged_;  // by place
};

}  // namespace

Workload store_race_workload() {
  return {
      .name = "store-race",
      .summary = "machines that race for a log and a counter in a store that loses answers",
      .bugs = {{.name = "believe-lost",
                .summary = "takes a write whose answer was lost for not done"},
               {.name = "believe-won", .summary = "takes a write whose answer was lost for done"},
               {.name = "forget-doubt", .summary = "takes what came late for somebody else's"},
               {.name = "replace-blindly",
                .summary = "replaces the counter whoever wrote it last"}},
      .run = [](const WorkloadOptions& options) { return StoreRaceRun(options).run(); }};
}

}  // namespace outlast::sim
