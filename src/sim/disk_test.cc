#include "sim/disk.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "sim/simulation.h"
#include "sys/file_system.h"

namespace outlast::sim {
namespace {

using sys::OpenMode;

constexpr std::uint64_t kLarge = 1U << 20U;

Disk::Inode put(Disk& disk, const std::string& path, std::string_view text) {
  const Disk::Inode inode = disk.open(path, OpenMode::kTruncate, WallTime()).value();
  EXPECT_TRUE(disk.write(inode, as_bytes(text), 0, WallTime()));
  return inode;
}

// The content, or "(none)".
std::string get(const Disk& disk, const std::string& path) {
  const auto inode = disk.find(path);
  if (!inode) return "(none)";
  Bytes bytes(disk.size(*inode));
  EXPECT_TRUE(disk.read(*inode, bytes, 0));
  return std::string(as_text(bytes));
}

// What a file may hold after a crash, over many crashes.
template <typename Prepare>
std::set<std::string> after_crash(const Prepare& prepare, const std::string& path) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Disk disk(kLarge);
    prepare(disk);
    Random random(seed);
    disk.crash(random);
    seen.insert(get(disk, path));
  }
  return seen;
}

TEST(Disk, UnsyncedDataMayBeLostTornOrKept) {
  const auto seen = after_crash(
      [](Disk& disk) {
        put(disk, "/a", "abc");
        ASSERT_TRUE(disk.sync_dir("/"));
      },
      "/a");
  EXPECT_EQ(seen, (std::set<std::string>{"", "a", "ab", "abc"}));
}

TEST(Disk, SyncedDataUnderASyncedNameStays) {
  const auto seen = after_crash(
      [](Disk& disk) {
        disk.sync(put(disk, "/a", "abc"));
        ASSERT_TRUE(disk.sync_dir("/"));
      },
      "/a");
  EXPECT_EQ(seen, (std::set<std::string>{"abc"}));
}

TEST(Disk, SyncingAFileDoesNotSyncItsName) {
  const auto seen = after_crash([](Disk& disk) { disk.sync(put(disk, "/a", "abc")); }, "/a");
  EXPECT_EQ(seen, (std::set<std::string>{"(none)", "abc"}));
}

TEST(Disk, LaterWritesMaySurviveEarlierOnes) {
  const auto seen = after_crash(
      [](Disk& disk) {
        const Disk::Inode a = put(disk, "/a", "....");
        disk.sync(a);
        ASSERT_TRUE(disk.sync_dir("/"));
        ASSERT_TRUE(disk.write(a, as_bytes("1"), 0, WallTime()));
        ASSERT_TRUE(disk.write(a, as_bytes("2"), 2, WallTime()));
      },
      "/a");
  EXPECT_EQ(seen, (std::set<std::string>{"....", "1...", "..2.", "1.2."}));
}

TEST(Disk, ARenameIsAtomicButNotDurable) {
  const auto prepare = [](Disk& disk) {
    disk.sync(put(disk, "/old", "old"));
    disk.sync(put(disk, "/new", "new"));
    ASSERT_TRUE(disk.sync_dir("/"));
    ASSERT_TRUE(disk.rename("/new", "/old", WallTime()));
  };
  EXPECT_EQ(after_crash(prepare, "/old"), (std::set<std::string>{"old", "new"}));
  EXPECT_EQ(after_crash(prepare, "/new"), (std::set<std::string>{"(none)", "new"}));
}

TEST(Disk, ARenameBetweenFoldersNeverLosesTheFile) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Disk disk(kLarge);
    ASSERT_TRUE(disk.make_dir("/x", WallTime()));
    ASSERT_TRUE(disk.make_dir("/y", WallTime()));
    disk.sync(put(disk, "/x/file", "text"));
    ASSERT_TRUE(disk.sync_dir("/"));
    ASSERT_TRUE(disk.sync_dir("/x"));
    ASSERT_TRUE(disk.rename("/x/file", "/y/file", WallTime()));
    const bool synced = seed % 2 == 0;
    if (synced) {
      ASSERT_TRUE(disk.sync_dir("/y"));
    }
    Random random(seed);
    disk.crash(random);
    EXPECT_NE(get(disk, "/x/file") == "text", get(disk, "/y/file") == "text");
    EXPECT_TRUE(!synced || get(disk, "/y/file") == "text");
  }
}

TEST(Disk, WhatLiesInALostFolderIsLost) {
  const auto seen = after_crash(
      [](Disk& disk) {
        ASSERT_TRUE(disk.make_dir("/d", WallTime()));
        disk.sync(put(disk, "/d/a", "abc"));
        ASSERT_TRUE(disk.sync_dir("/d"));  // but not "/"
      },
      "/d/a");
  EXPECT_EQ(seen, (std::set<std::string>{"(none)", "abc"}));
}

TEST(Disk, AfterAFailedSyncASecondOneMayLie) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Disk disk(kLarge);
    Random random(seed);
    const Disk::Inode a = put(disk, "/a", "abc");
    ASSERT_TRUE(disk.sync_dir("/"));
    disk.sync_in_vain(a, random);
    EXPECT_EQ(get(disk, "/a"), "abc");  // the cache still has it
    disk.sync(a);
    disk.crash(random);
    seen.insert(get(disk, "/a"));
  }
  EXPECT_TRUE(seen.contains(""));
  EXPECT_TRUE(seen.contains("abc"));
}

TEST(Disk, ATimeThatWasSetStaysOnlyIfItWasSynced) {
  const WallTime set(std::chrono::nanoseconds(1'234'567'891));
  for (const bool synced : {false, true}) {
    Disk disk(kLarge);
    const Disk::Inode a = put(disk, "/a", "abc");
    disk.sync(a);
    ASSERT_TRUE(disk.sync_dir("/"));
    disk.set_modified(a, set, WallTime());
    EXPECT_EQ(disk.stat("/a")->modified, set);
    if (synced) disk.sync(a);
    Random random(1);
    disk.crash(random);
    EXPECT_EQ(disk.stat("/a")->modified == set, synced);
  }
}

TEST(Disk, PermissionsAndFolderTimesStayOnlyIfTheyWereSynced) {
  const WallTime set(std::chrono::nanoseconds(1'234'567'891));
  for (const bool synced : {false, true}) {
    Disk disk(kLarge);
    ASSERT_TRUE(disk.make_dir("/d", WallTime()));
    ASSERT_TRUE(disk.sync_dir("/d"));
    ASSERT_TRUE(disk.sync_dir("/"));
    ASSERT_TRUE(disk.set_mode("/d", 0500, WallTime()));
    ASSERT_TRUE(disk.set_modified("/d", set, WallTime()));
    if (synced) {
      ASSERT_TRUE(disk.sync_dir("/d"));
    }
    Random random(1);
    disk.crash(random);
    EXPECT_EQ(disk.stat("/d")->mode == 0500U, synced);
    EXPECT_EQ(disk.stat("/d")->modified == set, synced);
  }
}

TEST(Disk, SyncingEverythingLeavesNothingToLuck) {
  const auto prepare = [](Disk& disk) {
    ASSERT_TRUE(disk.make_dir("/d", WallTime()));
    put(disk, "/d/a", "abc");
    ASSERT_TRUE(disk.rename("/d/a", "/b", WallTime()));
    disk.sync_all();
  };
  EXPECT_EQ(after_crash(prepare, "/b"), (std::set<std::string>{"abc"}));
  EXPECT_EQ(after_crash(prepare, "/d/a"), (std::set<std::string>{"(none)"}));
}

TEST(Disk, ASymlinkSurvivesWithItsNameAndWhole) {
  const auto seen = after_crash(
      [](Disk& disk) { ASSERT_TRUE(disk.make_symlink("somewhere", "/s", WallTime())); }, "/s");
  EXPECT_EQ(seen, (std::set<std::string>{"(none)", "somewhere"}));
}

// As on Linux: whoever knows files by this time must not trust one that is young.
TEST(Disk, TwoChangesInOneMomentLeaveTheSameTimeOfChange) {
  Disk disk(kLarge);
  const Disk::Inode a = put(disk, "/a", "abc");
  const WallTime time = disk.info(a).changed;
  ASSERT_TRUE(disk.write(a, as_bytes("x"), 0, time + std::chrono::milliseconds(1)));
  EXPECT_EQ(disk.info(a).changed, time);
  ASSERT_TRUE(disk.write(a, as_bytes("y"), 0, time + std::chrono::milliseconds(10)));
  EXPECT_GT(disk.info(a).changed, time);
}

TEST(Disk, AFullDiskTakesWhatFits) {
  Disk disk(5);
  const Disk::Inode a = disk.open("/a", OpenMode::kCreate, WallTime()).value();
  const auto written = disk.write(a, as_bytes("1234567"), 0, WallTime());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(get(disk, "/a"), "12345");
  EXPECT_TRUE(disk.write(a, as_bytes("xx"), 0, WallTime()));  // over what is there
  EXPECT_EQ(disk.space().available_bytes, 0U);
  ASSERT_TRUE(disk.remove_file("/a", WallTime()));
  EXPECT_EQ(disk.space().available_bytes, 5U);
}

// Any call can be made to fail, and leaves what a real failure leaves.
TEST(SimFileSystem, EveryOperationCanFail) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          std::set<std::string> failed;
          const auto file = world.files.open("/a", OpenMode::kCreate).value();
          machine.files().set_fault([&](std::string_view operation, const std::string&) {
            failed.insert(std::string(operation));
            return std::optional(Error(ErrorCode::kFailed, "injected"));
          });
          Bytes buffer(1);
          EXPECT_FALSE(world.files.open("/a", OpenMode::kRead));
          EXPECT_FALSE(file->read_at(buffer, 0));
          EXPECT_FALSE(file->write_at(buffer, 0));
          EXPECT_FALSE(file->truncate(0));
          EXPECT_FALSE(file->info());
          EXPECT_FALSE(file->set_modified(WallTime()));
          EXPECT_FALSE(file->map());
          EXPECT_FALSE(file->sync());
          EXPECT_FALSE(file->sync_file_system());
          EXPECT_FALSE(world.files.stat("/a"));
          EXPECT_FALSE(world.files.list("/"));
          EXPECT_FALSE(world.files.make_dir("/b"));
          EXPECT_FALSE(world.files.make_symlink("a", "/b"));
          EXPECT_FALSE(world.files.read_symlink("/b"));
          EXPECT_FALSE(world.files.set_modified("/a", WallTime()));
          EXPECT_FALSE(world.files.rename("/a", "/b"));
          EXPECT_FALSE(world.files.link("/a", "/b"));
          EXPECT_FALSE(world.files.remove_file("/a"));
          EXPECT_FALSE(world.files.remove_dir("/b"));
          EXPECT_FALSE(world.files.sync_dir("/"));
          EXPECT_FALSE(world.files.space("/"));
          EXPECT_FALSE(world.files.lock("/l", {}));
          EXPECT_EQ(failed.size(), 20U);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

}  // namespace
}  // namespace outlast::sim
