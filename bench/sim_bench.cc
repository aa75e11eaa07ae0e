// How fast the simulator explores, against the least that its baton can cost.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "bench/harness.h"
#include "sim/simulation.h"
#include "sys/threads.h"

namespace outlast::bench {
namespace {

constexpr int kSwitches = 20'000;

// Two simulated threads that do nothing but take turns.
void take_turns_simulated() {
  sim::Simulation simulation({.seed = 1});
  const sim::Outcome outcome = simulation.run([&] {
    std::vector<std::unique_ptr<sys::Thread>> threads;
    for (int i = 0; i < 2; ++i) {
      // Half of the steps keep the baton: the choice is random.
      threads.push_back(simulation.threads().spawn("t", [&](const std::stop_token&) {
        for (int k = 0; k < kSwitches; ++k) (void)simulation.clock().mono_now();
      }));
    }
  });
  OUTLAST_CHECK(outcome.ok, "{}", outcome.failure);
  keep(outcome.switches);
}

// Two threads that hand a baton to each other, by hand.
void take_turns_by_hand() {
  std::mutex mutex;
  std::condition_variable turn;
  int count = 0;
  const auto player = [&](int parity) {
    for (int k = 0; k < kSwitches / 2; ++k) {
      std::unique_lock lock(mutex);
      turn.wait(lock, [&] { return count % 2 == parity; });
      ++count;
      turn.notify_one();
    }
  };
  std::thread first(player, 0);
  std::thread second(player, 1);
  first.join();
  second.join();
  keep(count);
}

}  // namespace

void add_sim_cases(Cases& cases) {
  cases.push_back({.name = "sim-switches",
                   .what = "20,000 switches between simulated threads",
                   .baseline_name = "20,000 hand-overs by one condition variable",
                   .run = take_turns_simulated,
                   .baseline = take_turns_by_hand});
}

}  // namespace outlast::bench
