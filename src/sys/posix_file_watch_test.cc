// What only inotify can show.
#include "sys/posix_file_watch.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sys/file_watch.h"
#include "sys/posix_clock.h"

namespace outlast::sys {
namespace {

TEST(PosixFileWatch, AfterTooManyEventsEverythingIsWatchedAnew) {
  std::string folder = std::filesystem::temp_directory_path() / "outlast-watch-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  long events_max = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> events_max;
  ASSERT_GT(events_max, 0);
  if (events_max > 200'000) GTEST_SKIP() << "this machine keeps " << events_max << " events";
  const auto watches = make_posix_file_watches();
  {
    const auto watch = watches->watch(folder, {});
    ASSERT_TRUE(watch);
    // Two names, as equal events in a row count once.
    for (long i = 0; i < events_max; i += 2) {
      std::ofstream(folder + "/a");
      std::ofstream(folder + "/b");
    }
    std::filesystem::create_directory(folder + "/unnoticed");
    bool overflowed = false;
    const auto clock = make_posix_clock();
    while (const auto changes =
               (*watch)->wait({.deadline = clock->mono_now() + std::chrono::milliseconds(10)})) {
      overflowed = overflowed || changes->overflowed;
    }
    EXPECT_TRUE(overflowed);
    std::ofstream(folder + "/unnoticed/file");
    const auto changes = (*watch)->wait({});
    ASSERT_TRUE(changes);
    EXPECT_EQ(changes->paths, std::vector<std::string>{folder + "/unnoticed/file"});
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace outlast::sys
