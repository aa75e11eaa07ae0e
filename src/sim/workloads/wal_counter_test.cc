// What seeds have found in the counter, pinned down: seeds move when the kernel changes, these do
// not.
#include "sim/workloads/wal_counter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "sim/simulation.h"

namespace outlast::sim {
namespace {

// Three lives on one disk: in the first, after a call of `after`, the first call of `operation` on
// `path` fails and the program ends; the second acknowledges increments and loses its power; the
// third recovers.
void expect_nothing_lost(const std::string& after, const std::string& operation,
                         const std::string& path) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Simulation simulation({.seed = seed});
    Machine& machine = simulation.add_machine("m1");
    bool armed = false;
    bool failed = false;
    machine.files().set_fault(
        [&](std::string_view what, const std::string& where) -> std::optional<Error> {
          armed = armed || what == after;
          if (!armed || failed || what != operation || where != path) return std::nullopt;
          failed = true;
          return Error(ErrorCode::kFailed, "injected");
        });
    std::uint64_t acknowledged = 0;
    std::uint64_t recovered = 0;
    const auto increment = [&](sys::World& world) {
      const auto counter = WalCounter::open(world.files, "/var/counter");
      for (int i = 0; counter && i < 3; ++i) {
        const auto value = (*counter)->increment();
        if (!value) return;
        acknowledged = *value;
      }
    };
    const Outcome outcome = simulation.run([&] {
      machine.boot(increment, {});
      machine.wait_until_off({});
      EXPECT_TRUE(failed);
      machine.boot(increment, {});
      machine.wait_until_off({});
      // The program has ended; what it left in the cache is still to be lost.
      machine.disk().crash(simulation.random());
      machine.boot(
          [&](sys::World& world) {
            const auto counter = WalCounter::open(world.files, "/var/counter");
            ASSERT_TRUE(counter) << counter.error().to_string();
            recovered = (*counter)->value();
          },
          {});
    });
    ASSERT_TRUE(outcome.ok) << outcome.failure;
    EXPECT_GE(acknowledged, 3U);
    EXPECT_GE(recovered, acknowledged) << "seed " << seed;
  }
}

TEST(WalCounter, AFolderThatExistsNeedNotBeDurable) {
  expect_nothing_lost("make_dir", "sync_dir", "/var");
}

TEST(WalCounter, ARecordThatCanBeReadNeedNotBeDurable) {
  expect_nothing_lost("write", "sync", "/var/counter/counter.log");
}

TEST(WalCounter, KeepsItsValueOverCompactions) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [](sys::World& world) {
          for (std::uint64_t life = 0; life < 3; ++life) {
            const auto counter = WalCounter::open(world.files, "/c");
            ASSERT_TRUE(counter);
            EXPECT_EQ((*counter)->value(), life * 2);
            EXPECT_EQ((*counter)->increment().value_or(0), life * 2 + 1);
            EXPECT_TRUE((*counter)->compact());
            EXPECT_EQ((*counter)->increment().value_or(0), life * 2 + 2);
          }
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

}  // namespace
}  // namespace outlast::sim
