#include "sim/kernel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sim/simulation.h"
#include "sys/inbox.h"

namespace outlast::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Three threads that append to one text, a letter a turn.
std::string interleaving(std::uint64_t seed, Outcome* outcome = nullptr) {
  std::string text;
  Simulation simulation({.seed = seed});
  const Outcome result = simulation.run([&] {
    std::vector<std::unique_ptr<sys::Thread>> threads;
    for (const char letter : {'a', 'b', 'c'}) {
      threads.push_back(simulation.threads().spawn(std::string(1, letter), [&, letter](auto) {
        for (int i = 0; i < 4; ++i) {
          (void)simulation.clock().mono_now();
          text += letter;
        }
      }));
    }
  });
  EXPECT_TRUE(result.ok) << result.failure;
  if (outcome != nullptr) *outcome = result;
  return text;
}

TEST(Kernel, OneSeedIsOneHistory) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Outcome first;
    Outcome second;
    EXPECT_EQ(interleaving(seed, &first), interleaving(seed, &second));
    EXPECT_EQ(first.trace_hash, second.trace_hash);
    EXPECT_EQ(first.next_draw, second.next_draw);
    EXPECT_EQ(first.steps, second.steps);
  }
}

TEST(Kernel, SeedsExploreDifferentInterleavings) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) seen.insert(interleaving(seed));
  EXPECT_GT(seen.size(), 40U);
}

TEST(Kernel, TimePassesOnlyVirtually) {
  Simulation simulation({.seed = 1});
  const Outcome outcome =
      simulation.run([&] { EXPECT_TRUE(simulation.clock().sleep_for(hours(1000), {})); });
  EXPECT_TRUE(outcome.ok);
  EXPECT_GE(outcome.time, hours(1000));
}

TEST(Kernel, ADeadlockIsReportedWithWhoWaitsForWhat) {
  Simulation simulation({.seed = 1});
  const Outcome outcome = simulation.run([&] {
    sys::Inbox<int> inbox(simulation.threads(), 1);
    (void)inbox.receive({});
  });
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.failure, "deadlock: outside/main waits for a message");
}

// A message that came just as the deadline passed must not be left lying: whichever of the two woke
// the receiver, what is there wins.
TEST(Kernel, AMessageWinsOverADeadlineThatPassesWithIt) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Simulation simulation({.seed = seed});
    const Outcome outcome = simulation.run([&] {
      sys::Inbox<int> inbox(simulation.threads(), 1);
      bool posted = false;
      const MonoTime deadline = simulation.clock().mono_now() + milliseconds(1);
      const auto sender = simulation.threads().spawn("sender", [&](const std::stop_token&) {
        (void)simulation.clock().sleep_until(deadline, {});
        posted = inbox.try_post(1);
      });
      const Result<int> message = inbox.receive({.deadline = deadline});
      EXPECT_EQ(message.has_value(), posted) << "seed " << seed;  // no call lies between the two
    });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
  }
}

TEST(KernelDeathTest, ACallUnderALockIsABug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Simulation simulation({.seed = 1});
        (void)simulation.run([&] {
          Mutex mutex;
          const MutexLock lock(mutex);
          (void)simulation.clock().mono_now();
        });
      },
      "outside/main makes the call 'clock' while it holds a lock");
}

TEST(Kernel, ALivelockEnds) {
  Simulation simulation({.seed = 1, .steps_max = 1000});
  const Outcome outcome = simulation.run([&] {
    while (true) (void)simulation.clock().mono_now();
  });
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.failure, "no end after 1000 steps");
}

TEST(Kernel, AFailureEndsEveryThread) {
  Simulation simulation({.seed = 3});
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot([](sys::World& world) { (void)world.clock.sleep_for(hours(1), {}); }, {});
    (void)simulation.clock().sleep_for(milliseconds(1), {});
    simulation.fail("found it");
    (void)simulation.clock().mono_now();
    ADD_FAILURE() << "went on after the end";
  });
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.failure, "found it");
  EXPECT_LT(outcome.time, hours(1));
}

TEST(Kernel, AnEscapedExceptionReachesTheCaller) {
  Simulation simulation({.seed = 1});
  EXPECT_THROW((void)simulation.run([&] {
    const auto thread = simulation.threads().spawn(
        "thrower", [](auto) { throw std::runtime_error("a bug in the code under test"); });
    thread->join();
  }),
               std::runtime_error);
}

TEST(Kernel, TheTraceTellsTheStory) {
  Simulation simulation({.seed = 1, .keep_trace = true});
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run(
      [&] { machine.boot([](sys::World& world) { (void)world.files.make_dir("/a"); }, {}); });
  std::string story;
  for (const std::string& line : outcome.trace) story += line + "\n";
  EXPECT_NE(story.find("boot m1.1"), std::string::npos) << story;
  EXPECT_NE(story.find("m1.1/main            file.make_dir /a"), std::string::npos) << story;
}

}  // namespace
}  // namespace outlast::sim
