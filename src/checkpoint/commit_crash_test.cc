// A machine loses its power at every single call of a save. Afterwards its root holds the newest
// acknowledged state, or the one that was being saved, and never anything between them.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/testing/trees.h"
#include "checkpoint/tree_scan.h"
#include "checkpoint/writer.h"
#include "sim/simulation.h"
#include "store/directory_store.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::checkpoint::testing {
namespace commit_crash {

// The root in a folder of a machine, as a program that has just begun finds it.
struct Life {
  explicit Life(sys::World& world_in)
      : world(world_in),
        root({.files = world.files, .clock = world.clock, .random = world.random.fork()}, "/root") {
  }

  std::unique_ptr<Checkpoints> open() {
    return Checkpoints::open({.root = root,
                              .files = world.files,
                              .threads = world.threads,
                              .clock = world.clock,
                              .random = world.random,
                              .writer = "m1"},
                             "j", {})
        .value();
  }
  Result<Saved> save(Checkpoints& job, const std::string& folder) {
    State state;
    state.files = scan_tree(world.files, {folder}, {}).value().found;
    SaveRequest request;
    request.options = {.compression = Compression::kNever, .workers = 2, .pack_bytes = 24};
    return job.save(state, request, {});
  }

  sys::World& world;
  store::DirectoryStore root;
};

void make_state(sys::FileSystem& files, const std::string& folder, char letter) {
  TreeMaker make(files, folder);
  make.file("same", "what does not change");
  make.file("weights", std::string(40, letter));
  make.folder("d");
  make.file("d/optimizer", std::string(30, letter));
  make.finish_folder("d", 0755);
  ASSERT_TRUE(files.sync_dir(folder));
}

// A history that is cut off at this call of the second save; false once there is no such call.
bool history(std::uint64_t seed, std::uint64_t crash_at, std::set<std::string>& seen) {
  sim::Simulation simulation({.seed = seed});
  sim::Machine& machine = simulation.add_machine("m1");
  bool acknowledged = false;
  bool is_past_the_end = false;
  const sim::Outcome outcome = simulation.run([&] {
    std::string old_state;
    std::string new_state;
    machine.boot(
        [&](sys::World& world) {
          ASSERT_TRUE(world.files.make_dir("/root"));
          ASSERT_TRUE(world.files.sync_dir("/"));
          make_state(world.files, "/old", 'a');
          make_state(world.files, "/new", 'b');
          ASSERT_TRUE(world.files.sync_dir("/"));
          old_state = describe_tree(world.files, "/old");
          new_state = describe_tree(world.files, "/new");
          Life life(world);
          ASSERT_TRUE(life.save(*life.open(), "/old"));
        },
        {});
    ASSERT_TRUE(machine.wait_until_off({}));
    machine.disk().crash(simulation.random());  // what it has not synced is lost
    machine.boot(
        [&](sys::World& world) {
          Life life(world);
          const auto job = life.open();
          acknowledged = life.save(*job, "/new").has_value();
          is_past_the_end = true;
        },
        {.crash_at_call = crash_at});
    ASSERT_TRUE(machine.wait_until_off({}));
    if (is_past_the_end) machine.disk().crash(simulation.random());
    machine.boot(
        [&](sys::World& world) {
          Life life(world);
          const auto job = life.open();
          const Result<VerifyReport> report = job->verify({.full = true}, {});
          ASSERT_TRUE(report) << report.error().to_string();
          for (const Finding& finding : report->findings) {
            ADD_FAILURE() << finding.object << " " << finding.sentence;
          }
          const Result<Restored> restored = job->restore({.folder = "/back"}, {});
          ASSERT_TRUE(restored) << restored.error().to_string();
          const std::string back = describe_tree(world.files, "/back");
          EXPECT_TRUE(back == new_state || (back == old_state && !acknowledged)) << back;
          seen.insert(back == new_state ? "new" : "old");
          // And the job goes on.
          ASSERT_TRUE(life.save(*job, "/new"));
          ASSERT_TRUE(life.open()->restore({.folder = "/again"}, {}));
          EXPECT_EQ(describe_tree(world.files, "/again"), new_state);
        },
        {});
    ASSERT_TRUE(machine.wait_until_off({}));
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return !is_past_the_end;
}

TEST(CommitCrash, TheNewestAcknowledgedStateIsThereAfterEveryCrash) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::set<std::string> seen;
    std::uint64_t at = 1;
    while (history(seed, at, seen) && !HasFailure()) ++at;
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ", call " << at;
    EXPECT_GT(at, 80U);
    EXPECT_EQ(seen, (std::set<std::string>{"new", "old"}));
  }
}

}  // namespace commit_crash
}  // namespace outlast::checkpoint::testing
