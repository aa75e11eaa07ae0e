#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/file_system.h"
#include "sys/testing/file_system_suite.h"

// The rest of FileSystemSuite: symlinks, times, and what else a saved tree is made of.
namespace outlast::sys::testing {

TEST_P(FileSystemSuite, ASymlinkIsATextThatLeadsSomewhere) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    write(fs, dir + "/a", "text");
    ASSERT_TRUE(fs.make_symlink("a", dir + "/to-a"));
    EXPECT_EQ(fs.read_symlink(dir + "/to-a").value_or(""), "a");
    EXPECT_EQ(fs.stat(dir + "/to-a")->type, FileType::kSymlink);
    EXPECT_EQ(fs.stat(dir + "/to-a")->size, 1U);
    EXPECT_EQ(fs.list(dir)->back(), (DirectoryEntry{.name = "to-a", .type = FileType::kSymlink}));
    EXPECT_EQ(read(fs, dir + "/to-a"), "text");
    write(fs, dir + "/to-a", "through");
    EXPECT_EQ(read(fs, dir + "/a"), "through");
    EXPECT_EQ(code_of(fs.make_symlink("b", dir + "/to-a")), ErrorCode::kAlreadyExists);
    EXPECT_EQ(code_of(fs.make_symlink("b", dir + "/no/c")), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(fs.read_symlink(dir + "/a")), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code_of(fs.read_symlink(dir + "/none")), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(fs.open(dir + "/to-a", OpenMode::kCreateExclusive)),
              ErrorCode::kAlreadyExists);
    ASSERT_TRUE(fs.remove_file(dir + "/to-a"));
    EXPECT_EQ(read(fs, dir + "/a"), "through");
  });
}

TEST_P(FileSystemSuite, ASymlinkMayLeadNowhereOrInACircle) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    ASSERT_TRUE(fs.make_symlink("later", dir + "/dangling"));
    EXPECT_EQ(code_of(fs.open(dir + "/dangling", OpenMode::kRead)), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(fs.list(dir + "/dangling")), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(fs.make_dir(dir + "/dangling")), ErrorCode::kAlreadyExists);
    write(fs, dir + "/dangling", "made");
    EXPECT_EQ(read(fs, dir + "/later"), "made");
    ASSERT_TRUE(fs.make_symlink("y", dir + "/x"));
    ASSERT_TRUE(fs.make_symlink("x", dir + "/y"));
    EXPECT_EQ(code_of(fs.open(dir + "/x", OpenMode::kRead)), ErrorCode::kInvalidArgument);
    EXPECT_EQ(fs.read_symlink(dir + "/x").value_or(""), "y");
  });
}

TEST_P(FileSystemSuite, ASymlinkToAFolderIsAWayIntoIt) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    ASSERT_TRUE(fs.make_dir(dir + "/d"));
    ASSERT_TRUE(fs.make_dir(dir + "/e"));
    ASSERT_TRUE(fs.make_symlink("../d", dir + "/e/up"));
    ASSERT_TRUE(fs.make_symlink(dir + "/e", dir + "/whole"));
    write(fs, dir + "/whole/up/a", "text");
    EXPECT_EQ(read(fs, dir + "/d/a"), "text");
    EXPECT_EQ(fs.list(dir + "/whole/up")->size(), 1U);
    EXPECT_TRUE(fs.sync_dir(dir + "/e/up"));
    EXPECT_TRUE(fs.set_mode(dir + "/e/up", 0750));
    EXPECT_EQ(fs.stat(dir + "/d")->mode, 0750U);
    EXPECT_EQ(fs.stat(dir + "/e/up")->type, FileType::kSymlink);
    EXPECT_EQ(code_of(fs.remove_dir(dir + "/e/up")), ErrorCode::kNotFound);
  });
}

TEST_P(FileSystemSuite, RenameReplacesASymlinkNotWhatItLeadsTo) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    write(fs, dir + "/precious", "old");
    write(fs, dir + "/a", "new");
    ASSERT_TRUE(fs.make_symlink("precious", dir + "/name"));
    ASSERT_TRUE(fs.rename(dir + "/a", dir + "/name"));
    EXPECT_EQ(fs.stat(dir + "/name")->type, FileType::kFile);
    EXPECT_EQ(read(fs, dir + "/precious"), "old");
    ASSERT_TRUE(fs.make_dir(dir + "/d"));
    EXPECT_EQ(code_of(fs.rename(dir + "/name", dir + "/d")), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code_of(fs.rename(dir + "/d", dir + "/name")), ErrorCode::kNotFound);
    ASSERT_TRUE(fs.make_symlink("d", dir + "/to-d"));
    ASSERT_TRUE(fs.rename(dir + "/to-d", dir + "/name"));
    EXPECT_EQ(fs.read_symlink(dir + "/name").value_or(""), "d");
  });
}

TEST_P(FileSystemSuite, TheTimeOfAnyNameCanBeSet) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    const WallTime when(std::chrono::nanoseconds(1'600'000'000'987'654'321));
    write(fs, dir + "/a", "text");
    const WallTime written = fs.stat(dir + "/a")->modified;
    ASSERT_TRUE(fs.make_dir(dir + "/d"));
    ASSERT_TRUE(fs.make_symlink("a", dir + "/s"));
    ASSERT_TRUE(fs.set_modified(dir + "/d", when));
    ASSERT_TRUE(fs.set_modified(dir + "/s", when));
    EXPECT_EQ(fs.stat(dir + "/d")->modified, when);
    EXPECT_EQ(fs.stat(dir + "/s")->modified, when);
    EXPECT_EQ(fs.stat(dir + "/a")->modified, written);
    write(fs, dir + "/d/new", "");
    EXPECT_GT(fs.stat(dir + "/d")->modified, when);
    EXPECT_EQ(code_of(fs.set_modified(dir + "/none", when)), ErrorCode::kNotFound);
  });
}

// Each change is made long after the one before: within a moment they need not differ.
TEST_P(FileSystemSuite, EveryChangeMovesTheTimeOfChange) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    const std::string path = dir + "/a";
    const auto file = fs.open(path, OpenMode::kCreate).value();
    WallTime last = file->info()->changed;
    const auto expect_moved = [&](std::string_view what) {
      const FileInfo info = file->info().value();
      EXPECT_GT(info.changed, last) << what;
      last = info.changed;
      ASSERT_TRUE(world.clock.sleep_for(std::chrono::milliseconds(20), {}));
    };
    ASSERT_TRUE(world.clock.sleep_for(std::chrono::milliseconds(20), {}));
    ASSERT_TRUE(file->write_at(as_bytes("text"), 0));
    expect_moved("write");
    const WallTime modified = file->info()->modified;
    ASSERT_TRUE(file->truncate(2));
    expect_moved("truncate");
    ASSERT_TRUE(file->set_modified(modified));
    expect_moved("set_modified");
    ASSERT_TRUE(fs.set_modified(path, modified));
    expect_moved("set_modified by name");
    ASSERT_TRUE(fs.set_mode(path, 0600));
    expect_moved("set_mode");
    ASSERT_TRUE(fs.link(path, dir + "/b"));
    expect_moved("link");
    ASSERT_TRUE(fs.remove_file(dir + "/b"));
    expect_moved("remove");
    EXPECT_EQ(file->info()->modified, modified);
    EXPECT_EQ(fs.stat(path)->changed, last);
    EXPECT_EQ(fs.stat(path)->device, fs.stat(dir)->device);
  });
}

TEST_P(FileSystemSuite, AMapHasTheContent) {
  GetParam().run([](World& world, const std::string& dir) {
    write(world.files, dir + "/a", "some text");
    write(world.files, dir + "/empty", "");
    {
      const auto map = world.files.open(dir + "/a", OpenMode::kRead).value()->map();
      ASSERT_TRUE(map) << map.error().to_string();
      ASSERT_TRUE(world.files.remove_file(dir + "/a"));  // closed and gone, and still there
      EXPECT_EQ(as_text((*map)->bytes()), "some text");
    }
    const auto nothing = world.files.open(dir + "/empty", OpenMode::kRead).value()->map();
    ASSERT_TRUE(nothing) << nothing.error().to_string();
    EXPECT_TRUE((*nothing)->bytes().empty());
  });
}

TEST_P(FileSystemSuite, WhatGoesToTheDiskChangesNothingThatIsSeen) {
  GetParam().run([](World& world, const std::string& dir) {
    const auto file = world.files.open(dir + "/a", OpenMode::kCreate).value();
    ASSERT_TRUE(file->write_at(as_bytes("text"), 0));
    const FileInfo before = file->info().value();
    file->start_writeback(0, 4);
    file->start_writeback(1'000'000, 1);
    EXPECT_TRUE(file->sync());
    EXPECT_TRUE(file->sync_file_system());
    EXPECT_EQ(file->info()->changed, before.changed);
    EXPECT_EQ(read(world.files, dir + "/a"), "text");
  });
}

}  // namespace outlast::sys::testing
