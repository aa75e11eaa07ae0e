#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/file_watch.h"
#include "sys/testing/world_maker.h"
#include "sys/threads.h"

// What every FileWatches must do.
namespace outlast::sys::testing {

class FileWatchSuite : public ::testing::TestWithParam<WorldMaker> {
 protected:
  using Names = std::set<std::string>;  // below the watched folder
  static constexpr Duration kShort = std::chrono::milliseconds(5);

  static std::unique_ptr<FileWatch> watch(
      World& world, const std::string& folder,
      std::function<bool(const std::string& path)> leave_out = {}) {
    auto watch = world.file_watches.watch(folder, std::move(leave_out));
    EXPECT_TRUE(watch) << watch.error().to_string();
    return watch ? *std::move(watch) : nullptr;
  }
  static void write(World& world, const std::string& path) {
    const auto file = world.files.open(path, OpenMode::kTruncate);
    ASSERT_TRUE(file) << file.error().to_string();
    ASSERT_TRUE((*file)->write_at(as_bytes("text"), 0));
  }
  // All that has changed until now: nothing more is to come.
  static Names changes(World& world, FileWatch& watch, const std::string& folder) {
    Names names;
    while (true) {
      const auto batch = watch.wait({.deadline = world.clock.mono_now() + kShort});
      if (!batch) {
        EXPECT_EQ(batch.error().code(), ErrorCode::kDeadlineExceeded);
        return names;
      }
      EXPECT_FALSE(batch->overflowed);
      EXPECT_FALSE(batch->paths.empty());
      for (const std::string& path : batch->paths) {
        EXPECT_TRUE(path.starts_with(folder + "/")) << path;
        names.insert(path.substr(folder.size() + 1));
      }
    }
  }
};

TEST_P(FileWatchSuite, AFileIsReportedWhenItAppearsAndWhenItIsClosed) {
  GetParam().run([](World& world, const std::string& folder) {
    write(world, folder + "/old");
    const auto watched = watch(world, folder);
    ASSERT_TRUE(watched);
    EXPECT_EQ(changes(world, *watched, folder), Names());
    auto file = world.files.open(folder + "/new", OpenMode::kCreate);
    ASSERT_TRUE(file);
    EXPECT_EQ(changes(world, *watched, folder), Names{"new"});
    ASSERT_TRUE((*file)->write_at(as_bytes("text"), 0));
    EXPECT_EQ(changes(world, *watched, folder), Names());
    file->reset();
    EXPECT_EQ(changes(world, *watched, folder), Names{"new"});
    write(world, folder + "/old");
    EXPECT_EQ(changes(world, *watched, folder), Names{"old"});
    EXPECT_TRUE(read_file(world.files, folder + "/old", 100));
    EXPECT_EQ(changes(world, *watched, folder), Names());
  });
}

TEST_P(FileWatchSuite, NamesThatComeAndGoAreReported) {
  GetParam().run([](World& world, const std::string& folder) {
    ASSERT_TRUE(world.files.make_dir(folder + "/sub"));
    write(world, folder + "/a");
    const auto watched = watch(world, folder);
    ASSERT_TRUE(watched);
    ASSERT_TRUE(world.files.rename(folder + "/a", folder + "/sub/b"));
    EXPECT_EQ(changes(world, *watched, folder), (Names{"a", "sub/b"}));
    ASSERT_TRUE(world.files.link(folder + "/sub/b", folder + "/hard"));
    ASSERT_TRUE(world.files.make_symlink("hard", folder + "/soft"));
    EXPECT_EQ(changes(world, *watched, folder), (Names{"hard", "soft"}));
    ASSERT_TRUE(world.files.remove_file(folder + "/sub/b"));
    EXPECT_EQ(changes(world, *watched, folder), Names{"sub/b"});
    ASSERT_TRUE(world.files.remove_dir(folder + "/sub"));
    EXPECT_EQ(changes(world, *watched, folder), Names{"sub"});
  });
}

TEST_P(FileWatchSuite, NewFoldersAreWatchedWithWhatWasInThemBefore) {
  GetParam().run([](World& world, const std::string& scratch) {
    const std::string folder = scratch + "/watched";
    ASSERT_TRUE(world.files.make_dir(folder));
    const auto watched = watch(world, folder);
    ASSERT_TRUE(watched);
    ASSERT_TRUE(make_dirs(world.files, folder + "/a/b"));
    write(world, folder + "/a/b/early");
    EXPECT_EQ(changes(world, *watched, folder), (Names{"a", "a/b", "a/b/early"}));
    write(world, folder + "/a/b/late");
    EXPECT_EQ(changes(world, *watched, folder), Names{"a/b/late"});
    // From elsewhere.
    ASSERT_TRUE(make_dirs(world.files, scratch + "/elsewhere/c"));
    write(world, scratch + "/elsewhere/c/file");
    ASSERT_TRUE(world.files.rename(scratch + "/elsewhere", folder + "/here"));
    EXPECT_EQ(changes(world, *watched, folder), (Names{"here", "here/c", "here/c/file"}));
    write(world, folder + "/here/c/file");
    EXPECT_EQ(changes(world, *watched, folder), Names{"here/c/file"});
  });
}

TEST_P(FileWatchSuite, AMovedFolderReportsItsNewNameOrNothing) {
  GetParam().run([](World& world, const std::string& scratch) {
    const std::string folder = scratch + "/watched";
    ASSERT_TRUE(make_dirs(world.files, folder + "/a/b"));
    ASSERT_TRUE(make_dirs(world.files, folder + "/a-c"));
    const auto watched = watch(world, folder);
    ASSERT_TRUE(watched);
    ASSERT_TRUE(world.files.rename(folder + "/a", folder + "/z"));
    EXPECT_EQ(changes(world, *watched, folder), (Names{"a", "z", "z/b"}));
    write(world, folder + "/z/b/file");
    write(world, folder + "/a-c/file");
    EXPECT_EQ(changes(world, *watched, folder), (Names{"a-c/file", "z/b/file"}));
    ASSERT_TRUE(world.files.rename(folder + "/z", scratch + "/outside"));
    EXPECT_EQ(changes(world, *watched, folder), Names{"z"});
    write(world, scratch + "/outside/b/file");
    EXPECT_EQ(changes(world, *watched, folder), Names());
  });
}

TEST_P(FileWatchSuite, FoldersCanBeLeftOut) {
  GetParam().run([](World& world, const std::string& folder) {
    ASSERT_TRUE(make_dirs(world.files, folder + "/cache/deep"));
    const auto watched =
        watch(world, folder, [](const std::string& path) { return path.ends_with("/cache"); });
    ASSERT_TRUE(watched);
    write(world, folder + "/cache/deep/file");
    ASSERT_TRUE(make_dirs(world.files, folder + "/sub/cache"));
    write(world, folder + "/sub/cache/file");
    EXPECT_EQ(changes(world, *watched, folder), Names{"sub"});
    write(world, folder + "/sub/file");
    ASSERT_TRUE(remove_tree(world.files, folder + "/cache"));
    EXPECT_EQ(changes(world, *watched, folder), Names{"sub/file"});
  });
}

TEST_P(FileWatchSuite, WaitingEndsWithItsContextAndWithAChange) {
  GetParam().run([](World& world, const std::string& folder) {
    const auto watched = watch(world, folder);
    ASSERT_TRUE(watched);
    std::stop_source stop;
    const auto stopper = world.threads.spawn("stopper", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(kShort, {});
      stop.request_stop();
    });
    const auto stopped = watched->wait({.deadline = kNever, .stop = stop.get_token()});
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code(), ErrorCode::kCancelled);
    const auto writer = world.threads.spawn("writer", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(kShort, {});
      EXPECT_TRUE(world.files.make_dir(folder + "/new"));
    });
    const auto changed = watched->wait({});
    ASSERT_TRUE(changed);
    EXPECT_EQ(changed->paths, std::vector<std::string>{folder + "/new"});
  });
}

TEST_P(FileWatchSuite, AFolderThatIsNotThereIsNotFound) {
  GetParam().run([](World& world, const std::string& scratch) {
    const std::string folder = scratch + "/watched";
    const auto refused = world.file_watches.watch(folder, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().to_string(), "watch " + folder + ": No such file or directory");
    EXPECT_EQ(refused.error().code(), ErrorCode::kNotFound);
    ASSERT_TRUE(world.files.make_dir(folder));
    const auto watched = watch(world, folder);
    ASSERT_TRUE(watched);
    ASSERT_TRUE(world.files.remove_dir(folder));
    for (int i = 0; i < 2; ++i) {
      const auto changed = watched->wait({});
      ASSERT_FALSE(changed);
      EXPECT_EQ(changed.error().to_string(), "watch " + folder + ": the folder is no longer there");
    }
  });
}

}  // namespace outlast::sys::testing
