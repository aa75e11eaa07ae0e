// A machine loses its power at every single call of a restore, or the call fails. Afterwards the
// folder is as it was, or what it was to become, or says itself that it is neither.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "checkpoint/testing/trees.h"
#include "checkpoint/tree_target.h"
#include "sim/simulation.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::checkpoint::testing {
namespace {

void make_old_state(sys::FileSystem& files, bool exact) {
  TreeMaker make(files, "/back");
  make.folder("d");
  make.file("d/grown", "11111111");
  make.file("d/same", "11111111222");
  make.file("mode", "text", 0600);
  make.file("was-file", "text");
  make.folder("was-folder");
  if (exact) make.file("was-folder/x", "text");  // would be in the way otherwise
  make.finish_folder("was-folder", 0755);
  make.finish_folder("d", 0700);
  ASSERT_TRUE(files.sync_dir("/back"));
}

void make_new_state(sys::FileSystem& files) {
  TreeMaker make(files, "/t");
  make.folder("d");
  make.file("d/grown", "1111111122222222333");
  make.file("d/same", "11111111222");
  make.hardlink("d/second", "d/grown");
  make.file("mode", "text", 0400);
  make.folder("was-file");
  make.file("was-file/inner", std::string(20, '\0'));
  make.file("was-folder", "text", 0755);
  make.symlink("symlink", "d/same");
  make.folder("empty");
  make.finish_folder("empty", 0711);
  make.finish_folder("was-file", 0755);
  make.finish_folder("d", 0555);
}

enum class After { kOld, kMarked, kNew };

// A history that is cut off at this call of the restore; false once there is no such call.
bool history(std::uint64_t seed, std::uint64_t crash_at, const TreeTarget::Options& options,
             std::set<After>& seen) {
  sim::Simulation simulation({.seed = seed});
  sim::Machine& machine = simulation.add_machine("m1");
  bool finished = false;
  const sim::Outcome outcome = simulation.run([&] {
    SavedTree saved;
    std::string before;
    std::string wanted;
    machine.boot(
        [&](sys::World& world) {
          make_new_state(world.files);
          make_old_state(world.files, options.exact);
          saved = save_tree(world, {"/t"});
          wanted = describe_tree(world.files, "/t");
          before = describe_tree(world.files, "/back");
        },
        {});
    ASSERT_TRUE(machine.wait_until_off({}));
    machine.boot(
        [&](sys::World& world) {
          const auto restored = restore_tree(world, saved, "/back", options);
          EXPECT_TRUE(restored) << restored.error().to_string();
          finished = true;
        },
        {.crash_at_call = crash_at});
    ASSERT_TRUE(machine.wait_until_off({}));
    if (finished) machine.disk().crash(simulation.random());  // what it has not synced is lost
    machine.boot(
        [&](sys::World& world) {
          const std::string after = describe_tree(world.files, "/back");
          const bool marked = is_being_restored(world.files, "/back").value();
          EXPECT_TRUE(marked || after == wanted || (after == before && !finished)) << after;
          EXPECT_FALSE(marked && finished);
          seen.insert(marked ? After::kMarked : after == before ? After::kOld : After::kNew);
          // And it can be done again.
          ASSERT_TRUE(restore_tree(world, saved, "/back", options));
          EXPECT_EQ(describe_tree(world.files, "/back"), wanted);
        },
        {});
    ASSERT_TRUE(machine.wait_until_off({}));
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return !finished;
}

// Cut off at every call, with each of some seeds.
void expect_safe(const TreeTarget::Options& options) {
  std::set<After> seen;
  for (const std::uint64_t seed : {1U, 2U}) {
    std::uint64_t at = 1;
    while (history(seed, at, options, seen) && !::testing::Test::HasFailure()) ++at;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", call " << at;
    EXPECT_GT(at, 80U);
  }
  EXPECT_EQ(seen, (std::set<After>{After::kOld, After::kMarked, After::kNew}));
}

TEST(TreeCrash, ARestoreThatWasCutOffIsNeverTakenForAFinishedOne) {
  expect_safe({});
}

TEST(TreeCrash, NorOneThatRemovesWhatIsNotInTheCheckpoint) {
  expect_safe({.exact = true});
}

TEST(TreeCrash, NorOneThatSyncsEverythingAtOnce) {
  expect_safe({.sync_each_max = 0});
}

// Whatever call fails: an error, the mark, and the next restore makes it good.
TEST(TreeFaults, AnyFailureLeavesTheMark) {
  for (int failing = 1;; ++failing) {
    bool failed = false;
    sim::Simulation simulation({.seed = 1});
    sim::Machine& machine = simulation.add_machine("m1");
    const sim::Outcome outcome = simulation.run([&] {
      machine.boot(
          [&](sys::World& world) {
            TreeMaker make(world.files, "/t");
            make.folder("d");
            make.file("d/a", "several chunks of it");
            make.hardlink("d/b", "d/a");
            make.symlink("s", "d");
            make.finish_folder("d", 0555);
            const SavedTree saved = save_tree(world, {"/t"});
            TreeMaker back(world.files, "/back");
            back.file("s", "old");
            int calls = 0;
            machine.files().set_fault(
                [&](std::string_view, const std::string&) -> std::optional<Error> {
                  if (++calls != failing) return std::nullopt;
                  failed = true;
                  return Error(ErrorCode::kFailed, "Input/output error");
                });
            const auto first = restore_tree(world, saved, "/back");
            machine.files().set_fault({});
            // A comparison that fails is a chunk to fetch; everything else ends the restore.
            if (!first) {
              const std::string found = describe_tree(world.files, "/back");
              EXPECT_TRUE(is_being_restored(world.files, "/back").value() ||
                          found.starts_with("file 's'") ||  // not begun
                          found == describe_tree(world.files, "/t"));
            }
            const auto second = restore_tree(world, saved, "/back");
            ASSERT_TRUE(second) << second.error().to_string();
            EXPECT_EQ(describe_tree(world.files, "/back"), describe_tree(world.files, "/t"));
          },
          {});
    });
    ASSERT_TRUE(outcome.ok) << outcome.failure;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "call " << failing;
    if (!failed) {
      EXPECT_GT(failing, 40);
      return;
    }
  }
}

}  // namespace
}  // namespace outlast::checkpoint::testing
