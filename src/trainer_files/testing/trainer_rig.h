#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/time.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"
#include "trainer_files/checkpoint_finder.h"
#include "trainer_files/file_looks.h"
#include "trainer_files/layouts.h"
#include "trainer_files/tree_listing.h"

// A trainer that writes files in a folder, and somebody who looks at them.
namespace outlast::trainer_files::testing {

inline sys::testing::WorldMaker simulated_world() {
  return {.name = "Simulated", .run = [](const sys::testing::WorldMaker::Body& body) {
            sim::Simulation simulation({.seed = 1});
            sim::Machine& machine = simulation.add_machine("m1");
            const sim::Outcome outcome = simulation.run([&] {
              machine.boot(
                  [&](sys::World& world) {
                    ASSERT_TRUE(world.files.make_dir("/scratch"));
                    body(world, "/scratch");
                  },
                  {});
            });
            EXPECT_TRUE(outcome.ok) << outcome.failure;
          }};
}

// Each file is newer than the one before, however fast they are written.
class TrainerRig {
 public:
  TrainerRig(sys::World& world, const std::string& scratch, FinderOptions options = {})
      : files_(world.files), folder_(scratch + "/work"), finder_(world.files, std::move(options)) {
    EXPECT_TRUE(sys::make_dirs(files_, folder_));
  }

  // The trainer's part.
  void file(const std::string& path, std::string_view bytes) {
    EXPECT_TRUE(sys::make_dirs(files_, sys::parent_path(at(path))));
    const auto file = files_.open(at(path), sys::OpenMode::kTruncate);
    ASSERT_TRUE(file) << file.error().to_string();
    EXPECT_TRUE((*file)->write_at(as_bytes(bytes), 0));
    EXPECT_TRUE((*file)->set_modified(next_time()));
  }
  void half(const std::string& path, std::string_view bytes) {
    file(path, bytes.substr(0, bytes.size() / 2));
  }
  void folder(const std::string& path) { EXPECT_TRUE(sys::make_dirs(files_, at(path))); }
  void rename(const std::string& from, const std::string& to) {
    EXPECT_TRUE(files_.rename(at(from), at(to)));
  }
  void hardlink(const std::string& from, const std::string& to) {
    EXPECT_TRUE(files_.link(at(from), at(to)));
  }
  void symlink(const std::string& target, const std::string& path) {
    EXPECT_TRUE(files_.make_symlink(target, at(path)));
  }
  void remove(const std::string& path) { EXPECT_TRUE(sys::remove_tree(files_, at(path))); }

  // One look at the tree, without what was seen before: "complete", "incomplete", "unsure", or
  // "none" if there is no set of that name.
  TreeListing list(const ListingOptions& options = {}) {
    auto listing = list_tree(files_, folder_, options, {});
    EXPECT_TRUE(listing) << (listing ? "" : listing.error().to_string());
    return listing ? *std::move(listing) : TreeListing();
  }
  std::vector<FoundSet> find() {
    FileLooks looks(files_);
    return find_sets(list(), looks);
  }
  FoundSet find(const std::string& name) {
    for (FoundSet& set : find()) {
      if (set.name == name) return std::move(set);
    }
    return {};
  }
  std::string state(const std::string& name) {
    const FoundSet set = find(name);
    if (set.layout == nullptr) return "none";
    switch (set.state) {
      case SetState::kComplete:
        return "complete";
      case SetState::kIncomplete:
        return "incomplete";
      case SetState::kUnsure:
        return "unsure";
    }
    return "";
  }

  // Time passes, and the finder looks.
  void look(int milliseconds, const std::set<std::string>& open_for_writing = {}) {
    now_ += std::chrono::milliseconds(milliseconds);
    using OpenFiles = CheckpointFinder::OpenFiles;
    finder_.observe(list(), now_,
                    open_for_writing.empty() ? OpenFiles() : OpenFiles(open_for_writing));
  }
  void end(int milliseconds) {
    now_ += std::chrono::milliseconds(milliseconds);
    finder_.observe_end(list(), now_);
  }
  const CheckpointFinder& finder() const { return finder_; }
  // "complete", "being written", "abandoned", or "none".
  std::string standing(const std::string& name) const {
    for (const KnownSet& known : finder_.sets()) {
      if (known.set.name != name) continue;
      switch (known.standing) {
        case Standing::kComplete:
          return "complete";
        case Standing::kBeingWritten:
          return "being written";
        case Standing::kAbandoned:
          return "abandoned";
      }
    }
    return "none";
  }
  // The report, a line each.
  std::string report() const {
    std::string text;
    for (const std::string& line : finder_.report()) text += line + "\n";
    return text;
  }

  std::string at(const std::string& path) const { return folder_ + "/" + path; }

 private:
  WallTime next_time() {
    return WallTime(std::chrono::nanoseconds(1'600'000'000'000'000'000) +
                    std::chrono::milliseconds(1500) * ++made_);
  }

  sys::FileSystem& files_;
  const std::string folder_;
  CheckpointFinder finder_;
  MonoTime now_ = MonoTime(std::chrono::hours(1));
  std::int64_t made_ = 0;
};

}  // namespace outlast::trainer_files::testing
