// The suite that every store must pass, on the stores that need no server.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/random.h"
#include "store/directory_store.h"
#include "store/faulty_store.h"
#include "store/limited_store.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "store/prefixed_store.h"
#include "store/retrying_store.h"
#include "store/testing/in_simulation.h"
#include "store/testing/store_suite.h"
#include "sys/file_ops.h"
#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"

namespace outlast::store::testing {
namespace {

sys::testing::WorldMaker simulated_world(std::uint64_t seed) {
  return {.name = "seed " + std::to_string(seed),
          .run = [=](const sys::testing::WorldMaker::Body& body) {
            in_simulation(seed, [&](sys::World& world) { body(world, "/"); });
          }};
}

// What a test's body gets instead of the memory itself.
using Wrap = std::function<void(ObjectStore& memory, sys::World&, const StoreMaker::Body&)>;

StoreMaker memory_in(const sys::testing::WorldMaker& maker, const std::string& name,
                     const Wrap& wrap) {
  return {.name = name + " in memory, " + maker.name,
          .run =
              [=](const StoreMaker::Body& body) {
                maker.run([&](sys::World& world, const std::string&) {
                  MemoryBucket bucket;
                  MemoryStore memory(bucket, world.clock);
                  wrap(memory, world, body);
                });
              },
          .same_clock = true};
}

void plain(ObjectStore& memory, sys::World& world, const StoreMaker::Body& body) {
  body(memory, world);
}

void wrapped(ObjectStore& memory, sys::World& world, const StoreMaker::Body& body) {
  MeteredStore metered(memory);
  LimitedStore limited(metered, world.threads, {.start = 4, .max = 8});
  RetryingStore retrying(limited, world.clock, world.random.fork());
  body(retrying, world);
}

// Faults that leave no doubt: with them, nobody above the retries may notice anything.
void faulty(ObjectStore& memory, sys::World& world, const StoreMaker::Body& body) {
  const FaultPlan plan =
      random_faults(world.random.fork(),
                    {.refused = 0.15, .cut = 0.3, .delay_max = std::chrono::milliseconds(20)});
  FaultyStore broken(memory, world.clock, plan);
  RetryingStore retrying(broken, world.clock, world.random.fork(),
                         {.attempts_max = 30, .budget = 1'000'000});
  body(retrying, world);
}

void prefixed(ObjectStore& memory, sys::World& world, const StoreMaker::Body& body) {
  PrefixedStore part(memory, "some/where/");
  body(part, world);
}

StoreMaker directory_in(const sys::testing::WorldMaker& maker) {
  return {.name = "directory, " + maker.name,
          .run =
              [=](const StoreMaker::Body& body) {
                maker.run([&](sys::World& world, const std::string& scratch) {
                  const std::string root = sys::join_path(scratch, "store");
                  ASSERT_TRUE(world.files.make_dir(root));
                  DirectoryStore store(
                      {.files = world.files, .clock = world.clock, .random = world.random.fork()},
                      root);
                  body(store, world);
                });
              },
          .deviations = {{.test = "AKeyMayBeTheFolderOfAnother",
                          .why = "a file cannot have the name of a folder"}},
          .same_clock = true};
}

StoreMaker with_shorter_keys(StoreMaker maker) {
  maker.key_bytes_max = 1000;
  return maker;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Directory, StoreSuite,
                         ::testing::Values(directory_in(sys::testing::real_world()),
                                           directory_in(simulated_world(1)),
                                           directory_in(simulated_world(2))));
INSTANTIATE_TEST_SUITE_P(Prefixed, StoreSuite,
                         ::testing::Values(with_shorter_keys(memory_in(simulated_world(1),
                                                                       "prefixed", prefixed))));
INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite,
                         ::testing::Values(memory_in(sys::testing::real_world(), "plain", plain),
                                           memory_in(simulated_world(1), "plain", plain),
                                           memory_in(simulated_world(2), "plain", plain)));
INSTANTIATE_TEST_SUITE_P(
    Decorated, StoreSuite,
    ::testing::Values(memory_in(sys::testing::real_world(), "metered, limited, retried", wrapped),
                      memory_in(simulated_world(3), "metered, limited, retried", wrapped),
                      memory_in(simulated_world(4), "faulty, retried", faulty),
                      memory_in(simulated_world(5), "faulty, retried", faulty)));

}  // namespace outlast::store::testing
