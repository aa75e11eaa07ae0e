#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <set>
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
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "job/spec.h"
#include "job/spec_json.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "store/faulty_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

// An attempt in the simulator, for tests: one machine, a trainer, a root that may be away.
namespace outlast::agent::testing {

inline constexpr int kSteps = 40;
inline constexpr Duration kStepTime = std::chrono::seconds(30);

// Remembers everything. In a simulation one thread runs at a time.
class Witness : public Front {
 public:
  void printed(bool /*is_err*/, std::string_view /*piece*/,
               const sys::CallContext& /*ctx*/) override {}
  void happened(const Event& event) override { events.push_back(event); }
  void stands(const Beat& beat) override { beats.push_back(beat); }
  Duration stands_every() const override { return std::chrono::seconds(5); }

  std::vector<std::string> texts(std::string_view kind) const {
    std::vector<std::string> found;
    for (const Event& event : events) {
      if (event.kind == kind) found.push_back(event.sentence);
    }
    return found;
  }

  std::vector<Event> events;
  std::vector<Beat> beats;
};

inline job::Spec demo_spec() {
  return job::spec_from_json({{"name", "demo"},
                              {"run", "trainer"},
                              {"checkpoint", {{"dir", "ckpt"}, {"every", "1m"}}}})
      .value();
}

// Whatever a test wants to be heard.
class News : public notice::NoticeSource {
 public:
  News(std::function<void(notice::NoticeBoard&, sys::World&)> tell,
       std::function<std::string(const notice::Departure&)> released, sys::World& world)
      : tell_(std::move(tell)), released_(std::move(released)), world_(world) {}
  std::string name() const override { return "news"; }
  void watch(notice::NoticeBoard& board, const sys::CallContext& ctx) override {
    tell_(board, world_);
    (void)world_.clock.sleep_for(std::chrono::hours(24), ctx);
  }
  Result<std::string> release(const notice::Departure& departure,
                              const sys::CallContext& /*ctx*/) override {
    return released_ ? released_(departure) : "";
  }

 private:
  const std::function<void(notice::NoticeBoard&, sys::World&)> tell_;
  const std::function<std::string(const notice::Departure&)> released_;
  sys::World& world_;
};

// A machine whose trainer writes a step every half minute, and a root that may be away.
class Trial {
 public:
  Trial() {
    machine_.processes().install("trainer", [this](sim::SimProcessSelf&) {
      sys::World& world = machine_.world();
      for (int step = 1; step <= kSteps; ++step) {
        (void)world.clock.sleep_for(kStepTime, {});
        (void)sys::write_file_atomically(world.files, "/work/state",
                                         as_bytes(std::to_string(step)));
        if (after_step) after_step(step);
      }
      return 0;
    });
  }

  Result<std::variant<Begun, job::LogEntry>> begin(sys::World& world) {
    return begin_attempt(
        root_, world,
        {.spec = spec,
         .agent = {.host = "m1", .pid = 1},
         .writer = "m1 1",
         .root_patience = std::chrono::minutes(2),
         .tell =
             [this](EventLevel level, std::string kind, std::string sentence) {
               witness.happened(
                   {.level = level, .kind = std::move(kind), .sentence = std::move(sentence)});
             }},
        {});
  }

  // Runs the job to its end, and checks what must hold however it went.
  void run() {
    AttemptEnding ending;
    run_to(ending, [this](sys::World& world) { expect_all_committed_once(world); });
    EXPECT_EQ(ending.outcome, AttemptOutcome::kDone) << ending.why;
  }

  void run_to(AttemptEnding& ending, const std::function<void(sys::World&)>& then = {}) {
    on_machine([&](sys::World& world) {
      run_attempt(world, ending);
      if (then) then(world);
    });
  }

  // One attempt, on the machine: nothing of it is in memory afterwards.
  void run_attempt(sys::World& world, AttemptEnding& ending) {
    ASSERT_TRUE(sys::make_dirs(world.files, "/work"));
    auto begun = begin(world);
    ASSERT_TRUE(begun) << begun.error().to_string();
    auto work = WorkFolder::open(world.files, world.clock, "/work", {});
    ASSERT_TRUE(work) << work.error().to_string();
    AttemptOptions options = {.spec = spec,
                              .trainer = {.argv = {"trainer"}, .folder = "/work"},
                              .command = "trainer",
                              .version = "test",
                              .agent = {.host = "m1", .pid = 1},
                              .recognise = trainer_files::Recognise::kEverything};
    Attempt attempt({.world = world, .root = root_, .work = *work, .front = witness},
                    std::move(options), std::get<Begun>(*std::move(begun)));
    std::vector<std::unique_ptr<notice::NoticeSource>> sources;
    if (news) sources.push_back(std::make_unique<News>(news, released, world));
    ending = attempt.run(std::move(sources));
  }

  void on_machine(const std::function<void(sys::World&)>& body) {
    const sim::Outcome outcome = simulation_.run([&] { machine_.boot(body, {}); });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
  }

  sim::Machine& machine() { return machine_; }
  const store::MemoryBucket& bucket() const { return bucket_; }
  store::MemoryBucket& bucket() { return bucket_; }
  store::ObjectStore& root() { return root_; }

  job::Spec spec = demo_spec();
  Witness witness;
  bool is_away = false;
  std::function<void(notice::NoticeBoard&, sys::World&)> news;
  std::function<std::string(const notice::Departure&)> released;
  std::function<void(int step)> after_step;

 private:
  void expect_all_committed_once(sys::World& world) {
    auto checkpoints = checkpoint::Checkpoints::open({.root = root_,
                                                      .files = world.files,
                                                      .threads = world.threads,
                                                      .clock = world.clock,
                                                      .random = world.random,
                                                      .writer = "reader"},
                                                     "demo", {});
    ASSERT_TRUE(checkpoints) << checkpoints.error().to_string();
    const job::History& history = (*checkpoints)->log().history();
    std::set<std::uint64_t> told;
    for (const Event& event : witness.events) {
      if (event.kind != "saved") continue;
      EXPECT_TRUE(told.insert(event.facts.at("checkpoint").get<std::uint64_t>()).second);
    }
    // Each that the log has was told of, and the other way round: nothing twice, nothing lost.
    std::set<std::uint64_t> logged;
    for (job::Seq seq = history.oldest(); seq < history.next(); ++seq) {
      const job::LogEntry* const entry = history.find(seq);
      if (entry != nullptr && entry->kind == job::EntryKind::kCheckpoint) logged.insert(seq);
    }
    EXPECT_TRUE(std::ranges::includes(told, logged));
    EXPECT_GT(told.size(), 1U);
    ASSERT_TRUE((*checkpoints)->restore({.folder = "/back"}, {}));
    EXPECT_EQ(sys::read_file(world.files, "/back/state", 100).value_or(""), std::to_string(kSteps));
  }

  sim::Simulation simulation_{sim::KernelOptions{.seed = 7}};
  sim::Machine& machine_ = simulation_.add_machine("m1");
  store::MemoryBucket bucket_;
  store::MemoryStore memory_{bucket_, machine_.clock()};
  store::FaultyStore root_{memory_, machine_.clock(), [this](const store::StoreCall&) {
                             return is_away ? store::Fault{.kind = store::Fault::Kind::kRefused}
                                            : store::Fault{};
                           }};
};

}  // namespace outlast::agent::testing
