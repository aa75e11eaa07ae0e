// What several copies to the same file do to each other.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "store/testing/in_simulation.h"
#include "store/transfer/copier.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "store/transfer/testing/copy_bench.h"
#include "sys/file_ops.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::store {
namespace {

using testing::Bench;
using testing::kPart;
using testing::random_text;
using testing::TrickyStore;
using testing::with_bench;

// Copies what `first` has begun to the end, part by part from `index`.
void copy_rest(Target& first, Source& source, std::uint64_t index, std::uint64_t parts) {
  Bytes buffer;
  for (; index < parts; ++index) ASSERT_TRUE(first.copy_part(index, source, buffer, {}));
}

void expect_refused(const Bench& bench, const Result<CopyProgress>& second) {
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(second.error().to_string().find("another copy to " + bench.dir + "/b is under way"),
            std::string::npos)
      << second.error().to_string();
}

TEST(FileTarget, ASecondCopyToTheSameFileIsRefusedAndHarmsNothing) {
  with_bench([](Bench& bench) {
    const std::string text = random_text(5 * kPart);
    ASSERT_TRUE(bench.store.put("k", as_bytes(text), WriteIf::always(), {}));
    const auto source = bench.open_object("k");
    const std::unique_ptr<Target> first = bench.file_target("b");
    ASSERT_TRUE(first->begin({.size = text.size(), .part_bytes = kPart}, source->identity(), {}));
    copy_rest(*first, *source, 0, 2);
    expect_refused(bench, bench.run({bench.download("k", "b")}));
    copy_rest(*first, *source, 2, 5);
    ASSERT_TRUE(first->finish(0, {}));
    EXPECT_EQ(bench.read("b"), text);
    EXPECT_EQ(bench.names(), std::vector<std::string>{"b"});
    EXPECT_TRUE(bench.run({bench.download("k", "b")}));
  });
}

// As by kill -9: what keeps others away ends with it, and what it has written counts.
TEST(FileTarget, GoesOnWithADownloadThatWasKilled) {
  sim::Simulation simulation({.seed = 1});
  sim::Machine& machine = simulation.add_machine("m");
  MemoryBucket bucket;
  const std::string text = random_text(5 * kPart);
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          TrickyStore store(bucket, world.clock);
          const Bench bench = {.world = world, .dir = "", .store = store};
          ASSERT_TRUE(store.put("k", as_bytes(text), WriteIf::always(), {}));
          machine.processes().install("cp", [&](sim::SimProcessSelf&) {
            const auto source = bench.open_object("k");
            const std::unique_ptr<Target> target = bench.file_target("b");
            EXPECT_TRUE(
                target->begin({.size = text.size(), .part_bytes = kPart}, source->identity(), {}));
            copy_rest(*target, *source, 0, 2);
            (void)world.clock.sleep_for(std::chrono::hours(1), {});
            return 0;
          });
          const auto cp = world.processes.spawn({.argv = {"cp"}});
          ASSERT_TRUE(cp);
          ASSERT_TRUE(world.clock.sleep_for(std::chrono::minutes(1), {}));
          expect_refused(bench, bench.run({bench.download("k", "b")}));
          ASSERT_TRUE((*cp)->signal(SIGKILL));
          ASSERT_TRUE((*cp)->wait({}));
          const auto done = bench.run({bench.download("k", "b")});
          ASSERT_TRUE(done) << done.error().to_string();
          EXPECT_EQ(done->bytes_resumed, 2 * kPart);
          EXPECT_EQ(bench.read("b"), text);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

// Two at once, large or small, in many orders of events: each is whole or refused.
TEST(FileTarget, CopiesToTheSameFileDoNotMix) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    testing::in_simulation(seed, [seed](sys::World& world) {
      MemoryBucket bucket;
      TrickyStore store(bucket, world.clock);
      const Bench bench = {.world = world, .dir = "/d", .store = store};
      ASSERT_TRUE(world.files.make_dir(bench.dir));
      const std::size_t size = seed % 2 == 0 ? kPart / 2 : 3 * kPart;
      const std::array<std::string, 2> texts = {random_text(size), random_text(size + 1)};
      std::vector<std::unique_ptr<sys::Thread>> threads;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string key = fmt::format("k{}", i);
        ASSERT_TRUE(store.put(key, as_bytes(texts[i]), WriteIf::always(), {}));
        threads.push_back(world.threads.spawn(key, [&, key](const std::stop_token&) {
          for (int round = 0; round < 5; ++round) {
            const auto done = bench.run({bench.download(key, "b")});
            EXPECT_TRUE(done || done.error().code() == ErrorCode::kUnavailable);
            const std::string seen = bench.read("b");
            EXPECT_TRUE(seen == texts[0] || seen == texts[1]) << "seed " << seed;
          }
        }));
      }
      for (const auto& thread : threads) thread->join();
      EXPECT_EQ(bench.names(), std::vector<std::string>{"b"}) << "seed " << seed;
    });
  }
}

TEST(FileTarget, ASmallFileThatCannotBeWrittenLeavesNothingBehind) {
  with_bench([](Bench& bench) {
    ASSERT_TRUE(bench.store.put("k", as_bytes("small"), WriteIf::always(), {}));
    ASSERT_TRUE(sys::make_dirs(bench.world.files, bench.dir + "/b/in the way"));
    EXPECT_FALSE(bench.run({bench.download("k", "b")}));
    EXPECT_EQ(bench.names(), std::vector<std::string>{"b"});
  });
}

TEST(FileTarget, WhatAKilledSmallCopyLeftIsNotInTheWay) {
  with_bench([](Bench& bench) {
    ASSERT_TRUE(bench.store.put("k", as_bytes("small"), WriteIf::always(), {}));
    bench.write("b.outlast-new-0", "sma");
    ASSERT_TRUE(bench.run({bench.download("k", "b")}));
    EXPECT_EQ(bench.read("b"), "small");
    EXPECT_EQ(bench.names(), (std::vector<std::string>{"b", "b.outlast-new-0"}));
  });
}

}  // namespace
}  // namespace outlast::store
