#include "agent/tree_watcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/time.h"
#include "store/testing/in_simulation.h"
#include "sys/file_ops.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

namespace outlast::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A folder that is watched, and all that was told of it.
class WatchedFolder {
 public:
  explicit WatchedFolder(sys::World& world) : world_(world) {
    EXPECT_TRUE(sys::make_dirs(world.files, "/work"));
    TreeWatcher::Options options = {.folder = "/work"};
    options.finder.recognise = trainer_files::Recognise::kEverything;
    auto watcher = TreeWatcher::start(
        {.files = world.files,
         .watches = world.file_watches,
         .threads = world.threads,
         .clock = world.clock},
        options,
        {.seen = [this](TreeSeen one) { seen.push_back(std::move(one)); },
         .trouble = [](const Error& error) { ADD_FAILURE() << error.to_string(); }});
    EXPECT_TRUE(watcher);
    watcher_ = *std::move(watcher);
    watcher_->watch([this] { return open; });
  }

  void write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(sys::write_file_atomically(world_.files, "/work/" + name, as_bytes(text)));
  }
  void wait(Duration time) { EXPECT_TRUE(world_.clock.sleep_for(time, {})); }
  TreeWatcher& watcher() { return *watcher_; }

  TreeWatcher::OpenFiles open = std::set<std::string>();
  std::vector<TreeSeen> seen;

 private:
  sys::World& world_;
  std::unique_ptr<TreeWatcher> watcher_;
};

void with_folder(const std::function<void(WatchedFolder&)>& body) {
  store::testing::in_simulation(5, [&](sys::World& world) {
    WatchedFolder folder(world);
    body(folder);
  });
}

TEST(TreeWatcher, WhatSomebodyDiedOverStaysTornHoweverLongItLies) {
  with_folder([](WatchedFolder& folder) {
    folder.open = {"state"};
    folder.write("state", "the first half");
    folder.wait(seconds(5));
    ASSERT_FALSE(folder.seen.empty());
    EXPECT_TRUE(folder.seen.back().is_settling);
    // Who has ended has nothing open; it cannot be asked any more.
    folder.open = std::nullopt;
    for (int looks = 0; looks < 2; ++looks) {
      const std::size_t before = folder.seen.size();
      folder.watcher().look_last(false);
      folder.wait(seconds(30));
      ASSERT_EQ(folder.seen.size(), before + 1) << "only what was asked for";
      EXPECT_TRUE(folder.seen.back().is_last);
      EXPECT_TRUE(folder.seen.back().state.paths.empty());
    }
  });
}

TEST(TreeWatcher, WhatIsWrittenAMomentBeforeADeathIsNotBelievedLater) {
  with_folder([](WatchedFolder& folder) {
    folder.wait(seconds(5));
    folder.write("state", "perhaps a half");  // nobody has seen it open
    folder.open = std::nullopt;
    for (int looks = 0; looks < 3; ++looks) {
      folder.watcher().look_last(false);
      folder.wait(seconds(10));
      EXPECT_TRUE(folder.seen.back().state.paths.empty());
    }
  });
}

TEST(TreeWatcher, WhatAGoodEndLeavesIsWhole) {
  with_folder([](WatchedFolder& folder) {
    folder.write("state", "all of it");
    folder.watcher().look_last(true);
    folder.wait(seconds(1));
    EXPECT_TRUE(folder.seen.back().state.is_ready);
    EXPECT_EQ(folder.seen.back().state.paths, std::vector<std::string>{"state"});
  });
}

TEST(TreeWatcher, ALookThatIsAskedForIsToldOfThoughNothingIsNew) {
  with_folder([](WatchedFolder& folder) {
    folder.write("state", "1");
    folder.wait(seconds(20));
    const std::size_t before = folder.seen.size();
    EXPECT_FALSE(folder.seen.back().is_settling);
    folder.watcher().look_now();
    folder.wait(milliseconds(500));
    EXPECT_EQ(folder.seen.size(), before + 1);
  });
}

}  // namespace
}  // namespace outlast::agent
