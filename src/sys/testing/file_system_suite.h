#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/world_maker.h"
#include "sys/threads.h"

// What every FileSystem must do. Instantiate with INSTANTIATE_TEST_SUITE_P in one .cc per
// implementation.
namespace outlast::sys::testing {

class FileSystemSuite : public ::testing::TestWithParam<WorldMaker> {
 protected:
  static void write(FileSystem& fs, const std::string& path, std::string_view text) {
    const auto file = fs.open(path, OpenMode::kTruncate);
    ASSERT_TRUE(file) << file.error().to_string();
    ASSERT_TRUE((*file)->write_at(as_bytes(text), 0));
  }
  static std::string read(FileSystem& fs, const std::string& path) {
    return read_file(fs, path, 1U << 20U).value_or("(unreadable)");
  }
  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }
};

TEST_P(FileSystemSuite, OpenModesSayWhatMustExist) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    EXPECT_EQ(code_of(fs.open(dir + "/a", OpenMode::kRead)), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(fs.open(dir + "/a", OpenMode::kWrite)), ErrorCode::kNotFound);
    EXPECT_TRUE(fs.open(dir + "/a", OpenMode::kCreateExclusive));
    EXPECT_EQ(code_of(fs.open(dir + "/a", OpenMode::kCreateExclusive)), ErrorCode::kAlreadyExists);
    write(fs, dir + "/a", "text");
    EXPECT_TRUE(fs.open(dir + "/a", OpenMode::kCreate));
    EXPECT_EQ(read(fs, dir + "/a"), "text");
    EXPECT_TRUE(fs.open(dir + "/a", OpenMode::kTruncate));
    EXPECT_EQ(read(fs, dir + "/a"), "");
    EXPECT_EQ(code_of(fs.open(dir + "/no/b", OpenMode::kCreate)), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(fs.open(dir, OpenMode::kWrite)), ErrorCode::kInvalidArgument);
  });
}

TEST_P(FileSystemSuite, ReadsAndWritesAtAnyOffset) {
  GetParam().run([](World& world, const std::string& dir) {
    const auto file = world.files.open(dir + "/a", OpenMode::kCreate);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write_at(as_bytes("world"), 6));
    ASSERT_TRUE((*file)->write_at(as_bytes("hello"), 0));
    EXPECT_EQ(read(world.files, dir + "/a"), std::string("hello\0world", 11));
    EXPECT_EQ((*file)->size().value_or(0), 11U);
    Bytes buffer(8);
    EXPECT_EQ((*file)->read_at(buffer, 6).value_or(99), 5U);
    EXPECT_EQ((*file)->read_at(buffer, 11).value_or(99), 0U);
    EXPECT_EQ((*file)->read_at(buffer, 1000).value_or(99), 0U);
    ASSERT_TRUE((*file)->truncate(5));
    EXPECT_EQ(read(world.files, dir + "/a"), "hello");
    ASSERT_TRUE((*file)->truncate(7));
    EXPECT_EQ(read(world.files, dir + "/a"), std::string("hello\0\0", 7));
    EXPECT_TRUE((*file)->sync());
  });
}

TEST_P(FileSystemSuite, AFileOpenedForReadingCannotBeWritten) {
  GetParam().run([](World& world, const std::string& dir) {
    write(world.files, dir + "/a", "text");
    const auto file = world.files.open(dir + "/a", OpenMode::kRead);
    ASSERT_TRUE(file);
    EXPECT_FALSE((*file)->write_at(as_bytes("x"), 0));
    EXPECT_EQ(read(world.files, dir + "/a"), "text");
  });
}

TEST_P(FileSystemSuite, ListsNamesInOrderWithTheirTypes) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    write(fs, dir + "/zebra", "");
    write(fs, dir + "/Ant", "");
    ASSERT_TRUE(fs.make_dir(dir + "/bee"));
    const auto entries = fs.list(dir);
    ASSERT_TRUE(entries);
    EXPECT_EQ(*entries, (std::vector<DirectoryEntry>{{.name = "Ant", .type = FileType::kFile},
                                                     {.name = "bee", .type = FileType::kDirectory},
                                                     {.name = "zebra", .type = FileType::kFile}}));
    EXPECT_EQ(code_of(fs.list(dir + "/none")), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(fs.list(dir + "/Ant")), ErrorCode::kNotFound);
  });
}

TEST_P(FileSystemSuite, StatTellsTypeSizeAndLinks) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    write(fs, dir + "/a", "12345");
    ASSERT_TRUE(fs.link(dir + "/a", dir + "/b"));
    const auto a = fs.stat(dir + "/a");
    const auto b = fs.stat(dir + "/b");
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->type, FileType::kFile);
    EXPECT_EQ(a->size, 5U);
    EXPECT_EQ(a->links, 2U);
    EXPECT_EQ(a->inode, b->inode);
    EXPECT_EQ(fs.stat(dir)->type, FileType::kDirectory);
    EXPECT_EQ(code_of(fs.stat(dir + "/none")), ErrorCode::kNotFound);
  });
}

TEST_P(FileSystemSuite, RenameReplacesAFileButNotAFullFolder) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    write(fs, dir + "/a", "new");
    write(fs, dir + "/b", "old");
    ASSERT_TRUE(fs.rename(dir + "/a", dir + "/b"));
    EXPECT_EQ(read(fs, dir + "/b"), "new");
    EXPECT_EQ(code_of(fs.stat(dir + "/a")), ErrorCode::kNotFound);
    EXPECT_EQ(code_of(fs.rename(dir + "/a", dir + "/c")), ErrorCode::kNotFound);
    ASSERT_TRUE(fs.make_dir(dir + "/full"));
    write(fs, dir + "/full/file", "x");
    ASSERT_TRUE(fs.make_dir(dir + "/empty"));
    EXPECT_EQ(code_of(fs.rename(dir + "/empty", dir + "/full")), ErrorCode::kAlreadyExists);
    ASSERT_TRUE(fs.rename(dir + "/full", dir + "/empty"));
    EXPECT_EQ(read(fs, dir + "/empty/file"), "x");
  });
}

TEST_P(FileSystemSuite, LinkNeverReplaces) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    write(fs, dir + "/a", "a");
    write(fs, dir + "/b", "b");
    EXPECT_EQ(code_of(fs.link(dir + "/a", dir + "/b")), ErrorCode::kAlreadyExists);
    EXPECT_EQ(read(fs, dir + "/b"), "b");
    ASSERT_TRUE(fs.link(dir + "/a", dir + "/c"));
    ASSERT_TRUE(fs.remove_file(dir + "/a"));
    EXPECT_EQ(read(fs, dir + "/c"), "a");
  });
}

TEST_P(FileSystemSuite, RemovesFilesAndEmptyFoldersOnly) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    ASSERT_TRUE(fs.make_dir(dir + "/d"));
    EXPECT_EQ(code_of(fs.make_dir(dir + "/d")), ErrorCode::kAlreadyExists);
    write(fs, dir + "/d/file", "x");
    EXPECT_EQ(code_of(fs.remove_dir(dir + "/d")), ErrorCode::kAlreadyExists);
    EXPECT_FALSE(fs.remove_file(dir + "/d"));
    EXPECT_EQ(code_of(fs.remove_file(dir + "/none")), ErrorCode::kNotFound);
    ASSERT_TRUE(fs.remove_file(dir + "/d/file"));
    EXPECT_TRUE(fs.set_mode(dir + "/d", 0700));
    EXPECT_EQ(fs.stat(dir + "/d").value().mode, 0700U);
    EXPECT_TRUE(fs.remove_dir(dir + "/d"));
    EXPECT_EQ(code_of(fs.set_mode(dir + "/d", 0700)), ErrorCode::kNotFound);
  });
}

TEST_P(FileSystemSuite, ARemovedFileLivesOnWhileItIsOpen) {
  GetParam().run([](World& world, const std::string& dir) {
    write(world.files, dir + "/a", "text");
    const auto file = world.files.open(dir + "/a", OpenMode::kRead);
    ASSERT_TRUE(file);
    ASSERT_TRUE(world.files.remove_file(dir + "/a"));
    Bytes buffer(4);
    EXPECT_EQ((*file)->read_at(buffer, 0).value_or(0), 4U);
    EXPECT_EQ(as_text(buffer), "text");
  });
}

TEST_P(FileSystemSuite, AnOpenFileTellsOfItselfNotOfItsName) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    write(fs, dir + "/a", "12345");
    const FileInfo named = fs.stat(dir + "/a").value();
    const auto file = fs.open(dir + "/a", OpenMode::kRead);
    ASSERT_TRUE(file);
    write(fs, dir + "/b", "other");
    ASSERT_TRUE(fs.rename(dir + "/b", dir + "/a"));
    const auto info = (*file)->info();
    ASSERT_TRUE(info);
    EXPECT_EQ(info->type, FileType::kFile);
    EXPECT_EQ(info->inode, named.inode);
    EXPECT_EQ(info->size, 5U);
    EXPECT_EQ(info->modified, named.modified);
    EXPECT_EQ(info->links, 0U);
  });
}

TEST_P(FileSystemSuite, ATimeIsKeptToTheNanosecondUntilTheNextWrite) {
  GetParam().run([](World& world, const std::string& dir) {
    const auto file = world.files.open(dir + "/a", OpenMode::kCreate);
    ASSERT_TRUE(file);
    for (const std::int64_t ns : {std::int64_t{1'700'000'000'123'456'789}, std::int64_t{1}}) {
      const WallTime when{std::chrono::nanoseconds(ns)};
      ASSERT_TRUE((*file)->set_modified(when));
      EXPECT_EQ(world.files.stat(dir + "/a")->modified, when);
    }
    ASSERT_TRUE((*file)->write_at(as_bytes("x"), 0));
    EXPECT_GT((*file)->info()->modified, WallTime(std::chrono::hours(24)));
  });
}

TEST_P(FileSystemSuite, ALockKeepsOthersOutUntilItGoes) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    const std::string path = dir + "/lock";
    auto held = fs.lock(path, {});
    ASSERT_TRUE(held) << held.error().to_string();
    EXPECT_TRUE(fs.lock(dir + "/other", {}));
    const MonoTime soon = world.clock.mono_now() + std::chrono::milliseconds(20);
    EXPECT_EQ(code_of(fs.lock(path, {.deadline = soon})), ErrorCode::kDeadlineExceeded);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(code_of(fs.lock(path, {.stop = stop.get_token()})), ErrorCode::kCancelled);
    held->reset();
    EXPECT_TRUE(fs.lock(path, {}));
    EXPECT_EQ(code_of(fs.lock(path, {.deadline = soon})), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(code_of(fs.lock(dir + "/no/lock", {})), ErrorCode::kNotFound);
  });
}

TEST_P(FileSystemSuite, WhoHoldsALockIsAlone) {
  GetParam().run([](World& world, const std::string& dir) {
    constexpr int kRounds = 50;
    std::atomic<int> inside = 0;
    std::atomic<int> together = 0;
    std::atomic<int> done = 0;
    std::vector<std::unique_ptr<Thread>> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.push_back(world.threads.spawn("locker", [&](const std::stop_token&) {
        for (int i = 0; i < kRounds; ++i) {
          const auto held = world.files.lock(dir + "/lock", {});
          if (!held) return;
          if (++inside != 1) ++together;
          (void)world.clock.mono_now();  // in simulation: somebody else may run
          --inside;
          ++done;
        }
      }));
    }
    for (const auto& thread : threads) thread->join();
    EXPECT_EQ(together, 0);
    EXPECT_EQ(done, 4 * kRounds);
  });
}

TEST_P(FileSystemSuite, MakeDirsMakesWhatIsMissing) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    EXPECT_TRUE(make_dirs(fs, dir + "/x/y/z"));
    EXPECT_TRUE(make_dirs(fs, dir + "/x/y/z/"));
    EXPECT_EQ(fs.stat(dir + "/x/y/z")->type, FileType::kDirectory);
    write(fs, dir + "/file", "x");
    EXPECT_FALSE(make_dirs(fs, dir + "/file"));
    EXPECT_FALSE(make_dirs(fs, dir + "/file/below"));
  });
}

TEST_P(FileSystemSuite, RemoveTreeRemovesEverythingOnce) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    ASSERT_TRUE(make_dirs(fs, dir + "/x/y"));
    write(fs, dir + "/x/y/a", "a");
    write(fs, dir + "/x/b", "b");
    EXPECT_TRUE(remove_tree(fs, dir + "/x"));
    EXPECT_EQ(code_of(fs.stat(dir + "/x")), ErrorCode::kNotFound);
    EXPECT_TRUE(remove_tree(fs, dir + "/x"));
  });
}

TEST_P(FileSystemSuite, ReadFileRefusesMoreThanItsLimit) {
  GetParam().run([](World& world, const std::string& dir) {
    write(world.files, dir + "/a", std::string(100'000, 'x'));
    EXPECT_EQ(read_file(world.files, dir + "/a", 100'000).value_or("").size(), 100'000U);
    EXPECT_EQ(code_of(read_file(world.files, dir + "/a", 99'999)), ErrorCode::kInvalidArgument);
  });
}

TEST_P(FileSystemSuite, WriteFileAtomicallyReplacesTheWholeFile) {
  GetParam().run([](World& world, const std::string& dir) {
    FileSystem& fs = world.files;
    ASSERT_TRUE(write_file_atomically(fs, dir + "/a", as_bytes("a longer first version")));
    ASSERT_TRUE(write_file_atomically(fs, dir + "/a", as_bytes("second")));
    EXPECT_EQ(read(fs, dir + "/a"), "second");
    EXPECT_EQ(fs.list(dir)->size(), 1U);
    const auto space = fs.space(dir);
    ASSERT_TRUE(space);
    EXPECT_LE(space->available_bytes, space->total_bytes);
  });
}

}  // namespace outlast::sys::testing
