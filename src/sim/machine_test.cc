#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/inbox.h"
#include "sys/process.h"

namespace outlast::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Says when it goes, and tries what a destructor must not succeed with on a dead machine.
struct Farewell {
  sys::World& world;
  int& goodbyes;
  Result<void>& last_words;
  ~Farewell() {
    ++goodbyes;
    last_words = world.files.make_dir("/after-the-end");
  }
};

TEST(Machine, ACrashUnwindsEveryThreadAndNothingHappensAfterwards) {
  Simulation simulation({.seed = 5});
  Machine& machine = simulation.add_machine("m1");
  int goodbyes = 0;
  Result<void> last_words;
  Result<void> helper_words;
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const auto helper = world.threads.spawn("helper", [&](const std::stop_token&) {
            const Farewell farewell{world, goodbyes, helper_words};
            (void)world.clock.sleep_for(hours(1), {});
            ADD_FAILURE() << "the helper lived on";
          });
          const Farewell farewell{world, goodbyes, last_words};
          (void)world.clock.sleep_for(hours(1), {});
          ADD_FAILURE() << "the main thread lived on";
        },
        {});
    (void)simulation.clock().sleep_for(milliseconds(10), {});
    machine.crash();
    EXPECT_TRUE(machine.wait_until_off({}));
    machine.boot(
        [](sys::World& world) {
          EXPECT_EQ(world.files.stat("/after-the-end").error().code(), ErrorCode::kNotFound);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_EQ(goodbyes, 2);
  ASSERT_FALSE(last_words);
  EXPECT_EQ(last_words.error().to_string(), "this machine is gone");
  EXPECT_FALSE(helper_words);
}

TEST(Machine, ItsProcessesDieWithIt) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  bool lived_on = false;
  machine.processes().install("trainer", [&](SimProcessSelf&) {
    (void)machine.clock().sleep_for(hours(1), {});
    lived_on = true;
    return 0;
  });
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [](sys::World& world) {
          const auto trainer = world.processes.spawn({.argv = {"trainer"}});
          ASSERT_TRUE(trainer);
          (void)(*trainer)->wait({});
        },
        {});
    (void)simulation.clock().sleep_for(milliseconds(10), {});
    machine.crash();
    EXPECT_TRUE(machine.wait_until_off({}));
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_FALSE(lived_on);
}

TEST(Machine, ASignalEndsAProgramThatDoesNotListenAndLosesNothingItWrote) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  bool trainer_lived_on = false;
  machine.processes().install("trainer", [&](SimProcessSelf&) {
    (void)machine.clock().sleep_for(hours(1), {});
    trainer_lived_on = true;
    return 0;
  });
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [](sys::World& world) {
          const auto listener = world.own_signals.subscribe({SIGINT});
          ASSERT_TRUE(world.files.make_dir("/unsynced"));
          const auto trainer = world.processes.spawn({.argv = {"trainer"}});
          ASSERT_TRUE(trainer);
          EXPECT_EQ((*listener)->next({}).value_or(0), SIGINT);
          (void)(*trainer)->wait({});
          ADD_FAILURE() << "the program lived on";
        },
        {});
    for (const int number : {SIGINT, SIGCHLD, SIGTERM}) {
      (void)simulation.clock().sleep_for(milliseconds(10), {});
      machine.signal(number);
    }
    EXPECT_TRUE(machine.wait_until_off({}));
    machine.boot([](sys::World& world) { EXPECT_TRUE(world.files.stat("/unsynced")); }, {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_FALSE(trainer_lived_on);
}

TEST(Machine, AProcessOnItListensForItsOwnSignals) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  machine.processes().install("agent", [&](SimProcessSelf& self) {
    const auto listener = machine.world().own_signals.subscribe({SIGTERM});
    self.out("ready");
    return (*listener)->next({}).value_or(0) == SIGTERM ? 7 : 1;
  });
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [](sys::World& world) {
          const auto own = world.own_signals.subscribe({SIGTERM});
          EXPECT_TRUE(own);  // each for itself
          std::string text;
          const auto agent = world.processes.spawn(
              {.argv = {"agent"},
               .out = {.target = sys::Output::Sink([&](std::string_view s) { text += s; })}});
          ASSERT_TRUE(agent);
          while (text.empty()) {
            (void)(*agent)->wait({.deadline = world.clock.mono_now() + milliseconds(1)});
          }
          ASSERT_TRUE((*agent)->signal(SIGTERM));
          EXPECT_EQ((*agent)->wait({}).value_or(sys::Exited{0}), sys::ExitStatus(sys::Exited{7}));
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

TEST(Machine, WhatAKilledProcessStartedDiesWithItUnlessItNeedNot) {
  for (const bool dies : {true, false}) {
    Simulation simulation({.seed = 1});
    Machine& machine = simulation.add_machine("m1");
    bool lived_on = false;
    machine.processes().install("trainer", [&](SimProcessSelf&) {
      (void)machine.clock().sleep_for(hours(1), {});
      lived_on = true;
      return 0;
    });
    machine.processes().install("agent", [&](SimProcessSelf&) {
      const auto trainer =
          machine.world().processes.spawn({.argv = {"trainer"}, .dies_with_us = dies});
      (void)(*trainer)->wait({});
      return 0;
    });
    const Outcome outcome = simulation.run([&] {
      machine.boot(
          [](sys::World& world) {
            const auto agent = world.processes.spawn({.argv = {"agent"}});
            ASSERT_TRUE(agent);
            (void)world.clock.sleep_for(milliseconds(10), {});
            ASSERT_TRUE((*agent)->signal(SIGKILL));
            EXPECT_EQ(to_string((*agent)->wait({}).value()), "killed by SIGKILL");
            (void)world.clock.sleep_for(hours(2), {});
          },
          {});
    });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
    EXPECT_EQ(lived_on, !dies);
  }
}

TEST(Machine, WatchingFilesCanBeRefusedAndCanOverflow) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const auto watch = world.file_watches.watch("/", {});
          ASSERT_TRUE(watch);
          ASSERT_TRUE(world.files.make_dir("/new"));
          machine.file_watches().overflow();
          const auto changes = (*watch)->wait({});
          ASSERT_TRUE(changes);
          EXPECT_TRUE(changes->overflowed);
          EXPECT_TRUE(changes->paths.empty());
          machine.file_watches().set_available(false);
          const auto refused = world.file_watches.watch("/", {});
          ASSERT_FALSE(refused);
          EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

TEST(Machine, ACallOfAProcessIsACallOfItsMachine) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  int written = 0;
  machine.processes().install("trainer", [&](SimProcessSelf&) {
    for (; written < 100; ++written) (void)machine.world().files.make_dir("/step");
    return 0;
  });
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [](sys::World& world) {
          const auto trainer = world.processes.spawn({.argv = {"trainer"}});
          ASSERT_TRUE(trainer);
          (void)(*trainer)->wait({});
          ADD_FAILURE() << "the machine lived on";
        },
        {.crash_at_call = 40});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_EQ(machine.calls(), 40U);
  EXPECT_LT(written, 40);
}

TEST(Machine, WhatUnwindsCannotSendAnyMore) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  sys::Inbox<int> network(simulation.threads(), 10);
  struct LastMessage {
    sys::Inbox<int>& network;
    sys::World& world;
    ~LastMessage() {
      EXPECT_FALSE(network.try_post(1));
      EXPECT_FALSE(network.post(2, {}));
      network.close();
      world.console.out("too late");
    }
  };
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const LastMessage last{network, world};
          (void)world.clock.sleep_for(hours(1), {});
        },
        {});
    (void)simulation.clock().sleep_for(milliseconds(1), {});
    machine.crash();
    EXPECT_TRUE(machine.wait_until_off({}));
    EXPECT_FALSE(network.try_receive());
    EXPECT_TRUE(network.try_post(3));  // not closed either
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_EQ(machine.console().out_text, "");
}

TEST(Machine, OthersGoOnWhenOneCrashes) {
  Simulation simulation({.seed = 2});
  Machine& doomed = simulation.add_machine("doomed");
  Machine& other = simulation.add_machine("other");
  bool finished = false;
  const Outcome outcome = simulation.run([&] {
    const auto busy = [](sys::World& world) {
      for (int i = 0; i < 100; ++i) (void)world.clock.sleep_for(milliseconds(1), {});
    };
    doomed.boot(busy, {.crash_at_call = 20});
    other.boot([&](sys::World& world) { busy(world), finished = true; }, {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_TRUE(finished);
  EXPECT_EQ(doomed.calls(), 20U);
}

// The crash that LevelDB-style enumeration needs: one test for every moment at which the power can
// fail while a file is replaced.
TEST(Machine, AnAtomicReplacementSurvivesAPowerFailureAtEveryCall) {
  std::uint64_t crashes = 0;
  for (std::uint64_t call = 1;; ++call) {
    bool crashed = false;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Simulation simulation({.seed = seed});
      Machine& machine = simulation.add_machine("m1");
      std::string found;
      bool acknowledged = false;
      const Outcome outcome = simulation.run([&] {
        machine.boot(
            [](sys::World& world) {
              ASSERT_TRUE(sys::write_file_atomically(world.files, "/file", as_bytes("old")));
            },
            {});
        machine.wait_until_off({});
        machine.boot(
            [&](sys::World& world) {
              acknowledged =
                  sys::write_file_atomically(world.files, "/file", as_bytes("new")).has_value();
            },
            {.crash_at_call = call});
        machine.wait_until_off({});
        machine.crash();  // whoever finished without syncing is found out, too
        machine.boot(
            [&](sys::World& world) { found = sys::read_file(world.files, "/file", 100).value(); },
            {});
      });
      ASSERT_TRUE(outcome.ok) << outcome.failure;
      EXPECT_TRUE(found == "new" || (found == "old" && !acknowledged))
          << "seed " << seed << ", call " << call << ": '" << found << "'";
      crashed = crashed || !acknowledged;
    }
    if (!crashed) break;
    ++crashes;
  }
  EXPECT_EQ(crashes, 5U);  // open, write, sync, rename, sync folder
}

TEST(Machine, AWallClockJumpDoesNotMoveTheMonotonicClock) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const MonoTime mono = world.clock.mono_now();
          const WallTime wall = world.clock.wall_now();
          machine.clock().jump(-hours(1));
          EXPECT_LT(world.clock.wall_now(), wall);
          EXPECT_GE(world.clock.mono_now(), mono);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

}  // namespace
}  // namespace outlast::sim
