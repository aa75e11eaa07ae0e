#include "trainer_files/tree_listing.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sim/simulation.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"
#include "trainer_files/testing/trainer_rig.h"

namespace outlast::trainer_files::testing {
namespace {
namespace tree_listing_test {

std::string paths_of(const TreeListing& listing) {
  std::string text;
  for (const ListedEntry& entry : listing.entries()) text += entry.path + "\n";
  return text;
}

class TreeListings : public ::testing::TestWithParam<sys::testing::WorldMaker> {};

TEST_P(TreeListings, SayWhatEachThingIs) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("out/ckpt.pt", "bytes");
    rig.file("out-2", "x");
    rig.hardlink("out/ckpt.pt", "out/best.pt");
    rig.symlink("ckpt.pt", "out/last");
    const TreeListing listing = rig.list();
    EXPECT_EQ(paths_of(listing), "out\nout-2\nout/best.pt\nout/ckpt.pt\nout/last\n");
    const ListedEntry* const file = listing.find("out/ckpt.pt");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->size, 5U);
    EXPECT_EQ(file->links, 2U);
    EXPECT_EQ(file->inode, listing.find("out/best.pt")->inode);
    EXPECT_EQ(listing.find("out")->type, sys::FileType::kDirectory);
    EXPECT_EQ(listing.find("out/last")->target, "ckpt.pt");
    EXPECT_EQ(listing.find("out/none"), nullptr);
    EXPECT_EQ(listing.full_path("out/last"), rig.at("out/last"));
    ASSERT_EQ(listing.below("out").size(), 3U);
    EXPECT_EQ(listing.below("out").front().path, "out/best.pt");
    EXPECT_EQ(listing.below("").size(), 5U);
    EXPECT_TRUE(listing.below("none").empty());
    EXPECT_FALSE(listing.cut_off || listing.disturbed);
    EXPECT_TRUE(listing.not_listed.empty());
  });
}

TEST_P(TreeListings, LeaveOutWhatIsNeverACheckpoint) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("kept/a.pt", "1");
    rig.file(".git/objects/12/34.pt", "1");
    rig.file("src/__pycache__/train.pyc", "1");
    rig.file("env/pyvenv.cfg", "1");
    rig.file("env/lib/torch/test.pt", "1");
    rig.file("conda/conda-meta/history", "1");
    rig.file("web/node_modules/x/y.pt", "1");
    rig.file("jobs/root/jobs/a/packs/1.pt", "1");
    rig.file(".outlast-restoring", "1");
    rig.file("kept/b.pt.outlast-part", "1");
    rig.symlink("jobs/root", "elsewhere");
    const TreeListing listing = rig.list({.outlast_root = rig.at("elsewhere")});
    EXPECT_EQ(paths_of(listing), "conda\nelsewhere\nenv\njobs\nkept\nkept/a.pt\nsrc\nweb\n");
    EXPECT_EQ(listing.not_listed,
              (std::map<NotListed, std::size_t>{{NotListed::kVersionControl, 1},
                                                {NotListed::kCache, 1},
                                                {NotListed::kVirtualEnvironment, 2},
                                                {NotListed::kNodeModules, 1},
                                                {NotListed::kOutlastRoot, 1},
                                                {NotListed::kOurOwn, 2}}));
  });
}

TEST_P(TreeListings, EndWhereTheyMay) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    for (int i = 0; i < 20; ++i) rig.file(fmt::format("f{}/x", i), "1");
    const TreeListing some = rig.list({.entries_max = 25});
    EXPECT_EQ(some.entries().size(), 25U);
    EXPECT_TRUE(some.cut_off);
    const TreeListing all = rig.list({.entries_max = 40});
    EXPECT_EQ(all.entries().size(), 40U);
    EXPECT_FALSE(all.cut_off);
  });
}

TEST_P(TreeListings, DifferInWhatWasDone) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TrainerRig rig(world, dir);
    rig.file("a/kept.pt", "1");
    rig.file("a/overwritten.pt", "1");
    rig.file("a/removed.pt", "1");
    rig.symlink("kept.pt", "a/last");
    const TreeListing before = rig.list();
    rig.file("a/overwritten.pt", "2");
    rig.remove("a/removed.pt");
    rig.remove("a/last");
    rig.symlink("new.pt", "a/last");
    rig.file("a/new.pt", "1");
    rig.file("b/new.pt", "1");
    const TreeListing after = rig.list();
    EXPECT_EQ(difference(before, after),
              (ListingDifference{.created = {"a/new.pt", "b", "b/new.pt"},
                                 .changed = {"a/last", "a/overwritten.pt"},
                                 .removed = {"a/removed.pt"}}));
    EXPECT_EQ(difference(after, after), ListingDifference());
  });
}

TEST_P(TreeListings, AFolderThatIsNotThereAndAStopAreErrors) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    EXPECT_EQ(list_tree(world.files, dir + "/none", {}, {}).error().code(), ErrorCode::kNotFound);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(list_tree(world.files, dir, {}, {.stop = stop.get_token()}).error().code(),
              ErrorCode::kCancelled);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, TreeListings,
                         ::testing::Values(sys::testing::real_world(), simulated_world()));

// Runs with a fault for each call of the file system, in simulation.
using Faults = std::function<std::optional<Error>(std::string_view, const std::string&)>;

TreeListing list_with_faults(const Faults& faults) {
  sim::Simulation simulation({.seed = 1});
  sim::Machine& machine = simulation.add_machine("m1");
  TreeListing listing;
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          TrainerRig rig(world, "");
          for (int i = 0; i < 30; ++i) rig.file(fmt::format("out/{}/ckpt.pt", i % 3 * 10 + i), "1");
          machine.files().set_fault(faults);
          listing = rig.list();
          machine.files().set_fault({});
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return listing;
}

TEST(TreeListing, LooksAtEachNameOnce) {
  std::map<std::string, int> calls;
  const TreeListing listing =
      list_with_faults([&](std::string_view operation, const std::string&) -> std::optional<Error> {
        ++calls[std::string(operation)];
        return std::nullopt;
      });
  const int folders = static_cast<int>(
      std::ranges::count(listing.entries(), sys::FileType::kDirectory, &ListedEntry::type));
  EXPECT_EQ(calls["stat"], static_cast<int>(listing.entries().size()));
  EXPECT_EQ(calls["list"], folders + 1);
  EXPECT_EQ(calls.size(), 2U);
}

TEST(TreeListing, LeavesOutWhatItMayNotRead) {
  const TreeListing listing = list_with_faults(
      [](std::string_view operation, const std::string& path) -> std::optional<Error> {
        if (operation != "list" || !path.ends_with("out/0")) return std::nullopt;
        return Error(ErrorCode::kPermissionDenied, "not yours");
      });
  EXPECT_EQ(listing.not_listed, (std::map<NotListed, std::size_t>{{NotListed::kUnreadable, 1}}));
  EXPECT_EQ(listing.find("out/0/ckpt.pt"), nullptr);
  EXPECT_NE(listing.find("out/11/ckpt.pt"), nullptr);
  EXPECT_FALSE(listing.disturbed);
}

TEST(TreeListing, LooksAgainWhenSomethingVanished) {
  int vanished = 0;
  const auto vanish = [&](int times) {
    vanished = 0;
    return list_with_faults(
        [&, times](std::string_view operation, const std::string& path) -> std::optional<Error> {
          if (operation != "stat" || !path.ends_with("out/0/ckpt.pt") || vanished == times) {
            return std::nullopt;
          }
          ++vanished;
          return Error(ErrorCode::kNotFound, "gone");
        });
  };
  const TreeListing settled = vanish(2);
  EXPECT_FALSE(settled.disturbed);
  EXPECT_NE(settled.find("out/0/ckpt.pt"), nullptr);
  const TreeListing unsettled = vanish(100);
  EXPECT_TRUE(unsettled.disturbed);
  EXPECT_EQ(vanished, 3);
}

RC_GTEST_PROP(TreeListing, WhatIsBelowAFolderIsWhatBeginsWithIt,
              (const std::set<std::string>& names)) {
  std::vector<ListedEntry> entries;
  for (const std::string& name : names) {
    for (const std::string prefix : {"a/", "a0", "a.", "a/b/", ""}) {
      entries.push_back({.path = prefix + "x" + name});
    }
  }
  const TreeListing listing("", entries);
  const auto expected = std::ranges::count_if(
      listing.entries(), [](const ListedEntry& entry) { return entry.path.starts_with("a/"); });
  RC_ASSERT(static_cast<std::ptrdiff_t>(listing.below("a").size()) == expected);
  for (const ListedEntry& entry : listing.below("a")) RC_ASSERT(entry.path.starts_with("a/"));
}

}  // namespace tree_listing_test
}  // namespace
}  // namespace outlast::trainer_files::testing
