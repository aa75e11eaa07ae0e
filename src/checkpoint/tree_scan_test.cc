#include "checkpoint/tree_scan.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/manifest.h"
#include "checkpoint/testing/trees.h"
#include "checkpoint/tree_names.h"
#include "sim/simulation.h"
#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"

namespace outlast::checkpoint::testing {
namespace {

class TreeScans : public ::testing::TestWithParam<sys::testing::WorldMaker> {};

std::string paths_of(const Result<TreeScan>& scan) {
  if (!scan) return scan.error().to_string();
  std::string text;
  for (const FoundItem& found : scan->found) {
    text += fmt::format("{} {}\n", to_string(found.item.kind), found.item.path);
  }
  return text;
}

TEST_P(TreeScans, AFolderGivesItsContentsInTheOrderOfThePaths) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.folder("a");
    make.file("a/z", "1");
    make.file("a-b", "2");  // '-' comes before '/'
    make.folder("b");
    make.symlink("b/out", "/nowhere/at/all");
    make.file("\xff\xfe not utf-8", "3");
    make.file("new\nline", "4");
    const auto scan = scan_tree(world.files, {dir + "/t/"}, {});
    EXPECT_EQ(paths_of(scan),
              "folder a\nfile a-b\nfile a/z\nfolder b\nsymlink b/out\nfile new\nline\n"
              "file \xff\xfe not utf-8\n");
    ASSERT_TRUE(scan);
    EXPECT_EQ(scan->found[4].item.target, "/nowhere/at/all");
    EXPECT_EQ(scan->found[2].path, dir + "/t/a/z");
    EXPECT_EQ(scan->found[2].item.size, 1U);
    EXPECT_EQ(scan->found[2].item.modified, scan->found[2].info.modified);
  });
}

TEST_P(TreeScans, OneFileAndSeveralPathsGoByTheirBaseNames) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.folder("a");
    make.file("a/x", "1");
    make.file("b", "2");
    make.symlink("latest", "a");
    const auto scan = [&](const std::vector<std::string>& paths) {
      return paths_of(scan_tree(world.files, paths, {}));
    };
    EXPECT_EQ(scan({make.at("b")}), "file b\n");
    EXPECT_EQ(scan({make.at("b"), make.at("a/")}), "folder a\nfile a/x\nfile b\n");
    EXPECT_EQ(scan({make.at("latest")}), "file x\n");
    EXPECT_EQ(scan({make.at("latest"), make.at("b")}), "file b\nfolder latest\nfile latest/x\n");
    EXPECT_NE(scan({make.at("a/x"), dir + "/t/x"}).find("both be saved as 'x'"), std::string::npos);
    EXPECT_NE(scan({make.at("a"), dir + "/t/a/.."}).find("no name of its own"), std::string::npos);
    EXPECT_EQ(scan_tree(world.files, {make.at("none")}, {}).error().code(), ErrorCode::kNotFound);
    EXPECT_EQ(scan_tree(world.files, {}, {}).error().code(), ErrorCode::kInvalidArgument);
  });
}

TEST_P(TreeScans, TheFirstOfSeveralNamesIsTheFile) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.folder("a");
    make.file("z", "text");
    make.hardlink("a/first", "z");
    make.hardlink("m", "z");
    make.file("alone", "in here");
    ASSERT_TRUE(world.files.link(make.at("alone"), dir + "/elsewhere"));
    const auto scan = scan_tree(world.files, {dir + "/t"}, {});
    EXPECT_EQ(paths_of(scan), "folder a\nfile a/first\nfile alone\nhardlink m\nhardlink z\n");
    ASSERT_TRUE(scan);
    EXPECT_EQ(scan->found[4].item.target, "a/first");
  });
}

TEST_P(TreeScans, UnfinishedThingsOfOursAreNotSaved) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.file("a.outlast-part", "half");
    make.file("a.outlast-parts", "journal");
    make.folder("sub");
    make.file(fmt::format("sub/{}", kRestoreMark), "");
    make.file("b", "whole");
    const auto scan = scan_tree(world.files, {dir + "/t"}, {});
    EXPECT_EQ(paths_of(scan), "file b\nfolder sub\n");
    ASSERT_TRUE(scan);
    EXPECT_EQ(scan->half_restored, std::vector<std::string>{dir + "/t/sub"});
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, TreeScans,
                         ::testing::Values(sys::testing::real_world(), simulated_world()));

using DisturbScan = std::function<void(sim::Disk& disk, int number, const std::string& path)>;

// Runs with somebody who, at each stat of the scan, may do something to the tree.
Result<TreeScan> disturbed_scan(const DisturbScan& at_stat) {
  sim::Simulation simulation({.seed = 1});
  sim::Machine& machine = simulation.add_machine("m1");
  std::optional<Result<TreeScan>> scan;
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          TreeMaker make(world.files, "/t");
          make.folder("sub");
          make.file("sub/a", "1");
          make.file("sub/b", "2");
          int stats = 0;
          machine.files().set_fault(
              [&](std::string_view operation, const std::string& path) -> std::optional<Error> {
                if (operation == "stat") at_stat(machine.disk(), ++stats, path);
                return std::nullopt;
              });
          scan = scan_tree(world.files, {"/t"}, {});
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return scan.value_or(Error(ErrorCode::kFailed, "did not run"));
}

TEST(TreeScan, WhatIsRenamedMeanwhileIsFoundUnderItsNewName) {
  const auto scan = disturbed_scan([](sim::Disk& disk, int number, const std::string&) {
    if (number != 4) return;
    EXPECT_TRUE(disk.rename("/t/sub/a", "/t/sub/c", WallTime()));
  });
  EXPECT_EQ(paths_of(scan), "folder sub\nfile sub/b\nfile sub/c\n");
}

TEST(TreeScan, AFolderThatVanishesIsNotAnError) {
  const auto scan = disturbed_scan([](sim::Disk& disk, int number, const std::string&) {
    if (number != 4) return;
    EXPECT_TRUE(disk.remove_file("/t/sub/a", WallTime()));
    EXPECT_TRUE(disk.remove_file("/t/sub/b", WallTime()));
    EXPECT_TRUE(disk.remove_dir("/t/sub", WallTime()));
  });
  EXPECT_EQ(paths_of(scan), "");
}

TEST(TreeScan, AFolderThatNeverRestsIsAnErrorThatNamesIt) {
  const auto scan = disturbed_scan([](sim::Disk& disk, int, const std::string& path) {
    const std::string other = path == "/t/sub/a" ? "/t/sub/c" : "/t/sub/a";
    if (path != "/t/sub/a" && path != "/t/sub/c") return;
    EXPECT_TRUE(disk.rename(path, other, WallTime()));
  });
  ASSERT_FALSE(scan);
  EXPECT_EQ(scan.error().code(), ErrorCode::kConditionFailed);
  EXPECT_NE(scan.error().to_string().find("/t/sub"), std::string::npos);
}

TEST(FileIdentities, AYoungFileHasNone) {
  const WallTime now(std::chrono::hours(1000));
  sys::FileInfo info{.modified = now - std::chrono::hours(5), .inode = 7};
  info.changed = now - std::chrono::seconds(3);
  const std::optional<FileIdentity> identity = identity_of(info, now);
  EXPECT_EQ(identity,
            (FileIdentity{.inode = 7, .modified = info.modified, .changed = info.changed}));
  info.changed = now - std::chrono::seconds(1);
  EXPECT_EQ(identity_of(info, now), std::nullopt);
  info.changed = now + std::chrono::hours(1);  // a clock that is wrong
  EXPECT_EQ(identity_of(info, now), std::nullopt);
}

TEST(Origins, TellTheMachineAndTheFileSystemsApartWithoutNamingThem) {
  simulated_world().run([](sys::World& world, const std::string&) {
    std::vector<FoundItem> found(2);
    EXPECT_EQ(origin_of(world.files, found), "");
    TreeMaker etc(world.files, "/etc");
    etc.file("machine-id", "\n");
    EXPECT_EQ(origin_of(world.files, found), "");
    etc.file("machine-id", "0123456789abcdef0123456789abcdef\n");
    const std::string origin = origin_of(world.files, found);
    EXPECT_EQ(origin.size(), 32U);
    EXPECT_EQ(origin.find("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(origin_of(world.files, found), origin);
    found[1].info.device = 9;
    EXPECT_NE(origin_of(world.files, found), origin);
    found[1].info.device = 0;
    etc.file("machine-id", "1123456789abcdef0123456789abcdef\n");
    EXPECT_NE(origin_of(world.files, found), origin);
  });
}

}  // namespace
}  // namespace outlast::checkpoint::testing
