#include "sim/workloads/wal_counter_workload.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sim/workloads/wal_counter.h"
#include "sim/workloads/workload.h"
#include "sys/inbox.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

using std::chrono::seconds;

constexpr int kClients = 2;
constexpr int kIncrementsPerClient = 12;
constexpr int kDangerousLives = 6;
constexpr std::uint64_t kCompactEvery = 5;

struct Request {
  std::shared_ptr<sys::Inbox<std::uint64_t>> reply;  // the client and whoever serves it
};

// What the clients know. Plain data: only the holder of the baton touches it.
struct Ledger {
  std::uint64_t asked = 0;  // increments that may have happened
  std::uint64_t acknowledged = 0;
};

class WalCounterRun {
 public:
  explicit WalCounterRun(const WorkloadOptions& options)
      : simulation_({.seed = options.seed, .keep_trace = options.keep_trace}),
        server_(simulation_.add_machine("server")),
        requests_(simulation_.threads(), kClients) {
    syncs_.record = options.bug != "skip-record-sync";
    syncs_.snapshot = options.bug != "skip-snapshot-sync";
    syncs_.folder = options.bug != "skip-folder-sync";
  }

  Outcome run() {
    return simulation_.run([this] {
      std::vector<std::unique_ptr<sys::Thread>> clients;
      clients.reserve(kClients);
      for (int i = 0; i < kClients; ++i) {
        clients.push_back(simulation_.threads().spawn(
            fmt::format("client{}", i), [this](const std::stop_token&) { ask_repeatedly(); }));
      }
      operate_server();
      for (const auto& client : clients) client->join();
    });
  }

 private:
  // Switches the server on whenever it is off, in the end without danger, until the clients are
  // done: then the inbox closes and the server ends by itself.
  void operate_server() {
    for (int life = 0; clients_left_ > 0; ++life) {
      const bool dangerous = life < kDangerousLives;
      server_.files().fail_with_probability(dangerous ? 0.002 : 0);
      server_.boot([this](sys::World& world) { serve(world); },
                   {.crash_per_call = dangerous ? 0.02 : 0});
      server_.wait_until_off({});
    }
  }

  // One life of the server: until the power fails, the disk does, or the clients are done.
  void serve(sys::World& world) {
    const auto counter = WalCounter::open(world.files, "/var/counter", syncs_);
    if (!counter) {
      if (counter.error().code() == ErrorCode::kCorrupt) {
        simulation_.fail(counter.error().to_string());
      }
      return;
    }
    check_recovered((*counter)->value());
    while (true) {
      const Result<Request> request = requests_.receive({});
      if (!request) return;
      const Result<std::uint64_t> value = (*counter)->increment();
      if (!value) return;
      (void)request->reply->try_post(*value);  // a client that gave up does not listen any more
      if (*value % kCompactEvery == 0 && !(*counter)->compact()) return;
    }
  }

  void check_recovered(std::uint64_t value) {
    simulation_.note("recovered", fmt::format("{}, acknowledged {}, asked {}", value,
                                              ledger_.acknowledged, ledger_.asked));
    if (value < ledger_.acknowledged) {
      simulation_.fail(
          fmt::format("lost: {} was acknowledged, {} was recovered", ledger_.acknowledged, value));
    }
    if (value > ledger_.asked) {
      simulation_.fail(
          fmt::format("invented: {} was asked for, {} was recovered", ledger_.asked, value));
    }
  }

  void ask_repeatedly() {
    for (int done = 0; done < kIncrementsPerClient;) {
      const auto reply = std::make_shared<sys::Inbox<std::uint64_t>>(simulation_.threads(), 1);
      const MonoTime patience = simulation_.clock().mono_now() + seconds(2);
      ++ledger_.asked;  // from here on it may happen, whatever we hear
      if (!requests_.post({.reply = reply}, {.deadline = patience})) continue;
      const Result<std::uint64_t> value = reply->receive({.deadline = patience});
      if (!value) continue;
      ledger_.acknowledged = std::max(ledger_.acknowledged, *value);
      ++done;
    }
    if (--clients_left_ == 0) requests_.close();
  }

  Simulation simulation_;
  Machine& server_;
  sys::Inbox<Request> requests_;  // stands for the network: outlives the server's lives
  WalSyncs syncs_;
  Ledger ledger_;
  int clients_left_ = kClients;
};

}  // namespace

Workload wal_counter_workload() {
  return {.name = "wal-counter",
          .summary = "a write-ahead counter whose machine keeps losing its power",
          .bugs = {{.name = "skip-record-sync",
                    .summary = "acknowledges an increment before its record is durable"},
                   {.name = "skip-snapshot-sync",
                    .summary = "gives a snapshot its name before its content is durable"},
                   {.name = "skip-folder-sync",
                    .summary = "empties the log before the snapshot's name is durable"}},
          .run = [](const WorkloadOptions& options) { return WalCounterRun(options).run(); }};
}

}  // namespace outlast::sim
