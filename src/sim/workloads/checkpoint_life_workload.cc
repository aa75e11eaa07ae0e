#include "sim/workloads/checkpoint_life_workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/layout.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/prune.h"
#include "checkpoint/verify.h"
#include "checkpoint/writer.h"
#include "job/log_entry.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sim/workloads/noted_store.h"
#include "sim/workloads/workload.h"
#include "store/faulty_store.h"
#include "store/inner_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/prefixed_store.h"
#include "store/retrying_store.h"
#include "sys/call_context.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

using checkpoint::Checkpoints;
using std::chrono::milliseconds;

constexpr std::size_t kWriters = 2;
constexpr int kLivesEach = 2;
constexpr int kSavesPerLife = 3;
constexpr int kPrunes = 8;
constexpr std::string_view kJob = "j";

// Says of a pack that it is there, and sends it when the next one comes: the bug of committing
// before everything is durable.
class HastyStore : public store::PrefixedStore {
 public:
  explicit HastyStore(store::InnerStore inner) : PrefixedStore(std::move(inner), "") {}

  Result<std::string> put(const std::string& key, BytesView bytes, const store::WriteIf& condition,
                          const sys::CallContext& ctx) override {
    if (key.find(checkpoint::kPackPrefix) == std::string::npos) {
      return PrefixedStore::put(key, bytes, condition, ctx);
    }
    const auto before = std::exchange(waiting_, {key, Bytes(bytes.begin(), bytes.end())});
    if (before.first.empty()) return "on its way";
    return PrefixedStore::put(before.first, before.second, condition, ctx);
  }

 private:
  std::pair<std::string, Bytes> waiting_;
};

// State number `n`, of which a part changes with each number, a part now and then, and one never.
std::map<std::string, std::string> state_of(std::uint64_t n) {
  return {{"always", fmt::format("weights of {} {}", n, std::string(20, 'w'))},
          {"rarely", fmt::format("data order {} {}", n / 3, std::string(20, 'd'))},
          {"never", std::string(40, 'n')},
          {"zero", std::string(30, '\0')}};
}

class CheckpointLifeRun {
 public:
  explicit CheckpointLifeRun(const WorkloadOptions& options)
      : simulation_({.seed = options.seed, .keep_trace = options.keep_trace}),
        bug_(options.bug),
        server_(bucket_, simulation_.clock()),
        late_(server_),
        faults_(store::random_faults(Random(simulation_.random().next()),
                                     {.refused = 0.03,
                                      .answer_lost = 0.05,
                                      .late = 0.05,
                                      .cut = 0.03,
                                      .late_max = milliseconds(200),
                                      .delay_max = milliseconds(20)})) {}

  Outcome run() {
    return simulation_.run([this] {
      std::vector<std::unique_ptr<sys::Thread>> operators;
      for (std::size_t i = 0; i < kWriters; ++i) {
        Machine& machine = simulation_.add_machine(fmt::format("writer{}", i));
        operators.push_back(simulation_.threads().spawn(
            fmt::format("of-w{}", i), [this, &machine](const std::stop_token&) {
              for (int life = 0; life < kLivesEach; ++life) {
                operate(machine, [this](sys::World& world) { write(world); });
              }
            }));
      }
      Machine& janitor = simulation_.add_machine("janitor");
      operators.push_back(
          simulation_.threads().spawn("of-j", [this, &janitor](const std::stop_token&) {
            for (int i = 0; i < kPrunes; ++i) {
              operate(janitor, [this](sys::World& world) { prune(world); });
            }
          }));
      for (const auto& one : operators) one->join();
      late_.settle(kNever);
      check();
    });
  }

 private:
  void operate(Machine& machine, const std::function<void(sys::World&)>& program) {
    Random& random = simulation_.random();
    (void)simulation_.clock().sleep_for(milliseconds(random.between(0, 200)), {});
    machine.boot(program, {.crash_per_call = random.chance(0.5) ? 0.004 : 0});
    machine.wait_until_off({});
  }

  // A machine's way to the bucket.
  struct Way {
    Way(CheckpointLifeRun& run, sys::World& world)
        : memory(run.bucket_, world.clock),
          faulty(memory, world.clock, run.faults_, &run.late_),
          noted(faulty, run.simulation_),
          retrying(noted, world.clock, world.random.fork(), {.attempts_max = 4}),
          hasty(retrying) {}
    store::MemoryStore memory;
    store::FaultyStore faulty;
    NotedStore noted;
    store::RetryingStore retrying;
    HastyStore hasty;
  };

  static Checkpoints::Parts parts(store::ObjectStore& root, sys::World& world) {
    return {.root = root,
            .files = world.files,
            .threads = world.threads,
            .clock = world.clock,
            .random = world.random};
  }

  void write(sys::World& world) {
    Way way(*this, world);
    store::ObjectStore& root =
        bug_ == "early-commit" ? static_cast<store::ObjectStore&>(way.hasty) : way.retrying;
    auto job = Checkpoints::open(parts(root, world), std::string(kJob), {});
    if (!job) return simulation_.note("not opened", job.error().to_string());
    for (int i = 0; i < kSavesPerLife; ++i) {
      const std::uint64_t number = ++last_state_;
      const Result<job::Seq> saved = save(**job, number, world);
      if (!saved) {
        simulation_.note("not saved", saved.error().to_string());
        if (saved.error().code() == ErrorCode::kPreempted) return;
        continue;
      }
      simulation_.note("acknowledged", fmt::format("state {} at {}", number, *saved));
      newest_acknowledged_ = std::max(newest_acknowledged_, *saved);
    }
  }

  Result<job::Seq> save(Checkpoints& job, std::uint64_t number, sys::World& world) {
    const std::map<std::string, std::string> texts = state_of(number);
    checkpoint::State state;
    for (const auto& [name, text] : texts) {
      state.regions.push_back({.name = name, .bytes = as_bytes(text)});
    }
    checkpoint::SaveRequest request;
    request.why = fmt::format("{}", number);
    request.options = {
        .compression = checkpoint::Compression::kNever, .workers = 2, .pack_bytes = 30};
    if (job.log().epoch() == 0) OUTLAST_TRY(job.log().take_over("takes over", {}));
    OUTLAST_TRY_ASSIGN(const checkpoint::SavedPart part, job.save_part(state, request.options, {}));
    // As one does that waits for other ranks; a prune may come between.
    (void)world.clock.sleep_for(milliseconds(world.random.below(400)), {});
    if (bug_ != "deaf-to-prunes") {
      OUTLAST_TRY_ASSIGN(const checkpoint::Saved saved, job.commit({part}, request, {}));
      return saved.seq;
    }
    return job.log().append({.kind = job::EntryKind::kCheckpoint,
                             .why = request.why,
                             .checkpoint = {.manifests = {part.name}}},
                            {}, {});
  }

  void prune(sys::World& world) {
    Way way(*this, world);
    auto job = Checkpoints::open(parts(way.retrying, world), std::string(kJob), {});
    if (!job) return simulation_.note("not opened", job.error().to_string());
    if (bug_ == "prune-at-once") return prune_at_once(**job);
    checkpoint::PruneRequest request;
    request.retention.last = 1 + world.random.below(2);
    request.grace = milliseconds(world.random.below(30));
    const auto pruned = (*job)->prune(request, {});
    simulation_.note("pruned", pruned
                                   ? fmt::format("{} condemned, {} removed",
                                                 pruned->objects_condemned, pruned->objects_removed)
                                   : pruned.error().to_string());
  }

  // Removes what no checkpoint needs, as it looks at this moment.
  void prune_at_once(Checkpoints& job) {
    std::set<std::string> needed;
    const auto entries = job.list({});
    if (!entries) return;
    for (const job::LogEntry& entry : *entries) {
      const auto loaded = job.load(entry, {});
      if (!loaded) return;
      for (const checkpoint::Manifest& manifest : loaded->manifests) {
        for (const Sha256Digest& pack : manifest.packs) needed.insert(checkpoint::pack_key(pack));
      }
    }
    const auto page = job.store().list({.prefix = std::string(checkpoint::kPackPrefix)}, {});
    if (!page) return;
    for (const store::ObjectInfo& object : page->objects) {
      if (!needed.contains(object.key)) (void)job.store().remove(object.key, {});
    }
  }

  void check() {
    Random random = simulation_.random().fork();
    Machine& reader = simulation_.add_machine("reader");
    auto job = Checkpoints::open({.root = server_,
                                  .files = reader.world().files,
                                  .threads = simulation_.threads(),
                                  .clock = simulation_.clock(),
                                  .random = random},
                                 std::string(kJob), {});
    if (!job) return simulation_.fail("not readable: " + job.error().to_string());
    const auto report = (*job)->verify({.full = true}, {});
    if (!report) return simulation_.fail("not verifiable: " + report.error().to_string());
    for (const checkpoint::Finding& finding : report->findings) {
      if (finding.is_damage) {
        return simulation_.fail(fmt::format("damage: {} {}", finding.object, finding.sentence));
      }
    }
    const auto entries = (*job)->list({});
    if (!entries) return simulation_.fail("not listed: " + entries.error().to_string());
    const job::Seq newest = entries->empty() ? 0 : entries->back().seq;
    if (newest < newest_acknowledged_) {
      return simulation_.fail(fmt::format("lost: {} was acknowledged, and {} is the newest",
                                          newest_acknowledged_, newest));
    }
    for (const job::LogEntry& entry : *entries) check_content(**job, entry);
  }

  void check_content(Checkpoints& job, const job::LogEntry& entry) {
    const auto loaded = job.load(entry, {});
    if (!loaded) return simulation_.fail("not loaded: " + loaded.error().to_string());
    const std::map<std::string, std::string> texts = state_of(std::stoull(entry.why));
    std::map<std::string, Bytes> memory;
    std::map<checkpoint::RegionId, std::span<std::byte>> into;
    for (const auto& [name, text] : texts) {
      Bytes& bytes = memory[name];
      bytes.resize(text.size());
      into.emplace(checkpoint::RegionId{.name = name}, bytes);
    }
    const auto restored = checkpoint::restore_regions(job.reader_parts(), *loaded, into, {});
    if (!restored) return simulation_.fail("not restored: " + restored.error().to_string());
    for (const auto& [name, text] : texts) {
      if (as_text(memory[name]) != text) {
        return simulation_.fail(fmt::format("a mixture: {} of state {}", name, entry.why));
      }
    }
  }

  Simulation simulation_;
  const std::string bug_;
  store::MemoryBucket bucket_;  // outlives every life of every machine
  store::MemoryStore server_;
  store::LateWrites late_;
  const store::FaultPlan faults_;
  std::uint64_t last_state_ = 0;
  job::Seq newest_acknowledged_ = 0;
};

}  // namespace

Workload checkpoint_life_workload() {
  return {.name = "checkpoint-life",
          .summary = "machines that save one job's states and die while another one prunes",
          .bugs = {{.name = "early-commit",
                    .summary = "commits while the last packs are still on their way"},
                   {.name = "deaf-to-prunes",
                    .summary = "commits without looking at what was condemned meanwhile"},
                   {.name = "prune-at-once",
                    .summary = "removes what nobody needs without condemning it first"}},
          .run = [](const WorkloadOptions& options) { return CheckpointLifeRun(options).run(); }};
}

}  // namespace outlast::sim
