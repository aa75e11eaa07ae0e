#include "checkpoint/tree_target.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/manifest.h"
#include "checkpoint/testing/trees.h"
#include "checkpoint/tree_names.h"
#include "checkpoint/tree_scan.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::checkpoint::testing {
namespace {

class TreeTargets : public ::testing::TestWithParam<sys::testing::WorldMaker> {};

// Every kind of thing there is.
void make_rich_tree(sys::FileSystem& files, const std::string& folder) {
  TreeMaker make(files, folder);
  make.file("plain", "a text that has several chunks");
  make.file("empty", "");
  make.file("read-only", "do not touch", 0444);
  make.file("program", "#!/bin/sh", 0755);
  make.file("sparse", std::string("begin   ") + std::string(64, '\0') + "end");
  make.file("zeros", std::string(24, '\0'));
  make.file(" spaces in it ", "1");
  make.file("n\u00e4me \u2713", "2");
  make.file("new\nline", "3");
  make.file("\xff\xc0 bytes", "4");
  make.file(std::string(255, 'n'), "a long name");
  make.file("-rf", "5");
  make.folder("empty folder");
  std::string deep = "deep";
  for (int i = 0; i < 40; ++i) {
    make.folder(deep);
    deep += "/deep";
  }
  make.file(deep, "at the bottom");
  make.folder("locked");
  make.folder("locked/inner");
  make.file("locked/inner/file", "behind a closed door", 0400);
  make.hardlink("locked/same", "plain");
  make.hardlink("same", "plain");
  make.symlink("to-plain", "plain");
  make.symlink("dangling", "not/there");
  make.symlink("outside", "/etc/passwd");
  make.symlink("locked/up", "../..");
  make.finish_folder("locked/inner", 0500);
  make.finish_folder("locked", 0555);
  make.finish_folder("empty folder", 0711);
  make.finish_folder("deep/deep", 0700);
}

// So that the scratch folder can be removed.
void unlock(sys::World& world, const std::string& folder) {
  EXPECT_TRUE(remove_whatever_is_at(world.files, folder, {}));
}

TEST_P(TreeTargets, EverythingComesBackIntoANewFolder) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    make_rich_tree(world.files, dir + "/t");
    const SavedTree saved = save_tree(world, {dir + "/t"});
    const auto summary = restore_tree(world, saved, dir + "/new/back");
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(describe_tree(world.files, dir + "/new/back"),
              describe_tree(world.files, dir + "/t"));
    EXPECT_EQ(summary->files_written, 14U);
    EXPECT_EQ(summary->files_kept, 0U);
    EXPECT_EQ(summary->bytes_reused, 0U);
    EXPECT_FALSE(is_being_restored(world.files, dir + "/new/back").value());
    EXPECT_EQ(describe_tree(world.files, dir + "/t"), describe_tree(world.files, dir + "/t"));
    unlock(world, dir + "/t");
    unlock(world, dir + "/new");
  });
}

TEST_P(TreeTargets, WhatIsRightIsLeftAlone) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    make_rich_tree(world.files, dir + "/t");
    const SavedTree saved = save_tree(world, {dir + "/t"});
    const std::string before = describe_tree(world.files, dir + "/t");
    const auto inodes = [&] {
      std::vector<std::uint64_t> numbers;
      const TreeScan scan = scan_tree(world.files, {dir + "/t"}, {}).value();
      for (const FoundItem& found : scan.found) {
        numbers.push_back(found.info.inode);
      }
      return numbers;
    };
    const auto inodes_before = inodes();
    const auto summary = restore_tree(world, saved, dir + "/t");
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(summary->files_written, 0U);
    EXPECT_EQ(summary->files_kept, 14U);
    EXPECT_EQ(summary->left_alone, 0U);
    EXPECT_EQ(describe_tree(world.files, dir + "/t"), before);
    EXPECT_EQ(inodes(), inodes_before);
    unlock(world, dir + "/t");
  });
}

TEST_P(TreeTargets, OnlyWhatDiffersIsFetchedAndTheRestIsLeftAlone) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.folder("d");
    make.file("d/a", "11111111222222223333");
    make.file("longer", "1111111122222222");
    make.file("shorter", "11111111");
    make.file("mode", "same", 0600);
    make.file("time", "same");
    const SavedTree saved = save_tree(world, {dir + "/t"});
    const std::string wanted = describe_tree(world.files, dir + "/t");
    make.file("d/a", "11111111xxxxxxxx3333");
    make.file("longer", "11111111");
    make.file("shorter", "1111111122222222");
    ASSERT_TRUE(world.files.set_mode(make.at("mode"), 0644));
    ASSERT_TRUE(world.files.set_modified(make.at("time"), WallTime()));
    make.file("stranger", "not in the checkpoint");
    make.folder("d/strange");
    make.file("d/strange/file", "neither");
    const auto summary = restore_tree(world, saved, dir + "/t");
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(summary->files_written, 3U);
    EXPECT_EQ(summary->files_kept, 2U);
    EXPECT_EQ(summary->bytes_written, 16U);
    EXPECT_EQ(summary->left_alone, 2U);
    EXPECT_EQ(sys::read_file(world.files, make.at("d/strange/file"), 100).value_or(""), "neither");
    const auto exact = restore_tree(world, saved, dir + "/t", {.exact = true});
    ASSERT_TRUE(exact) << exact.error().to_string();
    EXPECT_EQ(exact->removed, 2U);
    EXPECT_EQ(exact->left_alone, 0U);
    EXPECT_EQ(describe_tree(world.files, dir + "/t"), wanted);
  });
}

TEST_P(TreeTargets, WhatIsInTheWayIsReplaced) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.file("file", "content");
    make.folder("folder");
    make.file("folder/inner", "content");
    make.symlink("symlink", "file");
    make.hardlink("hardlink", "file");
    make.finish_folder("folder", 0755);
    const SavedTree saved = save_tree(world, {dir + "/t"});
    const std::string wanted = describe_tree(world.files, dir + "/t");
    TreeMaker other(world.files, dir + "/back");
    for (const char* name : {"file", "symlink", "hardlink"}) {
      other.folder(name);
      other.folder(fmt::format("{}/locked", name));
      other.file(fmt::format("{}/locked/x", name), "in the way", 0);
      other.finish_folder(fmt::format("{}/locked", name), 0500);
    }
    other.file("folder", "a file");
    const std::string before = describe_tree(world.files, dir + "/back");
    const auto refused = restore_tree(world, saved, dir + "/back");
    ASSERT_FALSE(refused) << "they may hold anything";
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(describe_tree(world.files, dir + "/back"), before);
    const auto summary = restore_tree(world, saved, dir + "/back", {.exact = true});
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(summary->removed, 3U);
    EXPECT_EQ(describe_tree(world.files, dir + "/back"), wanted);
  });
}

TEST_P(TreeTargets, NothingOutsideIsTouchedThroughLinks) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.file("file", "new content");
    make.file("shared", "new content", 0600);
    make.file("same", "same content", 0600);
    make.folder("folder");
    make.file("folder/inner", "new content");
    make.finish_folder("folder", 0755);
    const SavedTree saved = save_tree(world, {dir + "/t"});
    const std::string wanted = describe_tree(world.files, dir + "/t");

    TreeMaker outside(world.files, dir + "/outside");
    outside.folder("folder");
    for (const char* name : {"file", "shared", "folder/inner"}) outside.file(name, "precious");
    outside.file("same", "same content");
    outside.file("part", "precious");
    const std::string before = describe_tree(world.files, dir + "/outside");
    TreeMaker back(world.files, dir + "/back");
    back.symlink("file", "../outside/file");
    back.symlink("file.outlast-part", "../outside/part");
    back.symlink("folder", "../outside/folder");
    ASSERT_TRUE(world.files.link(outside.at("shared"), back.at("shared")));
    ASSERT_TRUE(world.files.link(outside.at("same"), back.at("same")));

    const auto summary = restore_tree(world, saved, dir + "/back");
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(describe_tree(world.files, dir + "/back"), wanted);
    EXPECT_EQ(describe_tree(world.files, dir + "/outside"), before);
  });
}

TEST_P(TreeTargets, NamesThatWereOneFileAndAreTwoBecomeTwo) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.file("a", "same");
    make.file("b", "same");
    const SavedTree saved = save_tree(world, {dir + "/t"});
    TreeMaker back(world.files, dir + "/back");
    back.file("a", "same");
    back.hardlink("b", "a");
    ASSERT_TRUE(restore_tree(world, saved, dir + "/back"));
    EXPECT_EQ(describe_tree(world.files, dir + "/back"), describe_tree(world.files, dir + "/t"));
    EXPECT_NE(world.files.stat(back.at("a"))->inode, world.files.stat(back.at("b"))->inode);
  });
}

TEST_P(TreeTargets, AFolderWhoseRestoreWasCutOffIsKnownAndCanBeRestoredInto) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    make_rich_tree(world.files, dir + "/t");
    const SavedTree saved = save_tree(world, {dir + "/t"});
    const std::string back = dir + "/back";
    {
      const auto target = TreeTarget::begin(world.files, saved.manifests, back, {}, {});
      ASSERT_TRUE(target) << target.error().to_string();
      for (std::size_t i = 0; i < (*target)->file_count(); ++i) {
        ASSERT_TRUE((*target)->prepare(i, {}));
      }
    }
    EXPECT_TRUE(is_being_restored(world.files, back).value());
    EXPECT_TRUE(world.files.stat(back + "/program.outlast-part"));
    TreeMaker(world.files, back).file("other.outlast-part", "of another checkpoint");
    const auto summary = restore_tree(world, saved, back);
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(summary->left_alone, 0U);
    EXPECT_FALSE(is_being_restored(world.files, back).value());
    EXPECT_EQ(describe_tree(world.files, back), describe_tree(world.files, dir + "/t"));
    const auto exact = restore_tree(world, saved, back, {.exact = true});
    ASSERT_TRUE(exact);
    EXPECT_EQ(exact->removed, 0U);  // no leftovers
    unlock(world, dir + "/t");
    unlock(world, back);
  });
}

TEST_P(TreeTargets, WhatAnUnfinishedRestoreHasFetchedIsNotFetchedAgain) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.file("f", std::string(8, 'a') + std::string(8, '\0') + std::string(8, 'b'));
    const SavedTree saved = save_tree(world, {dir + "/t"});
    make.file("f", std::string(24, 'z'));
    const SavedTree another = save_tree(world, {dir + "/t"});
    const auto begin = [&](const SavedTree& tree, std::size_t chunks) {
      const auto target = TreeTarget::begin(world.files, tree.manifests, dir + "/back", {}, {});
      ASSERT_TRUE(target) << target.error().to_string();
      const std::vector<MissingChunk> missing = (*target)->prepare(0, {}).value();
      for (const MissingChunk& lack : std::span(missing).first(chunks)) {
        const auto& chunk = tree.manifests[lack.manifest].chunks[lack.chunk].chunk;
        ASSERT_TRUE((*target)->write(0, lack.offset, tree.chunks.at(chunk.name)));
      }
    };
    begin(another, 2);  // where the other one has zeros: nothing of it is of use
    begin(saved, 1);
    const auto summary = restore_tree(world, saved, dir + "/back");
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(summary->bytes_written, 8U);
    EXPECT_EQ(summary->bytes_reused, 8U);
    EXPECT_EQ(sys::read_file(world.files, dir + "/back/f", 100).value_or(""),
              std::string(8, 'a') + std::string(8, '\0') + std::string(8, 'b'));
  });
}

TEST_P(TreeTargets, RefusedBeforeAnythingIsTouched) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.file("a", "text");
    make.folder("taken");
    make.folder(fmt::format("taken/{}", kRestoreMark));
    const SavedTree saved = save_tree(world, {make.at("a")});
    const auto code_of = [&](const std::vector<Manifest>& manifests, const std::string& folder) {
      const auto target = TreeTarget::begin(world.files, manifests, folder, {}, {});
      EXPECT_FALSE(target);
      return target ? ErrorCode::kFailed : target.error().code();
    };
    EXPECT_EQ(code_of(saved.manifests, make.at("a")), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code_of(saved.manifests, make.at("taken")), ErrorCode::kInvalidArgument);
    std::vector<Manifest> bad = saved.manifests;
    bad[0].items[0].path = "../a";
    EXPECT_EQ(code_of(bad, dir + "/back"), ErrorCode::kCorrupt);
    std::vector<Manifest> large = saved.manifests;
    large[0].chunks[0].chunk.raw_bytes = 1U << 30U;
    large[0].items[0].size = 0;
    large[0].items[0].chunks.clear();
    for (int i = 0; i < (1 << 16); ++i) {  // 64 TiB
      large[0].items[0].chunks.push_back(0);
      large[0].items[0].size += 1U << 30U;
    }
    EXPECT_EQ(code_of(large, dir + "/back"), ErrorCode::kNoSpace);
    EXPECT_FALSE(world.files.stat(dir + "/back"));
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = TreeTarget::begin(world.files, saved.manifests, dir + "/back", {},
                                           {.stop = stop.get_token()});
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code(), ErrorCode::kCancelled);
  });
}

TEST_P(TreeTargets, SeveralRanksShareAFolder) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    TreeMaker make(world.files, dir + "/t");
    make.folder("shards");
    make.file("shards/0", "of rank 0");
    SavedTree saved = save_tree(world, {dir + "/t"});
    make.file("shards/1", "of rank 1");
    ASSERT_TRUE(world.files.remove_file(make.at("shards/0")));
    SavedTree second = save_tree(world, {dir + "/t"});
    saved.manifests.push_back(second.manifests.front());
    saved.chunks.merge(second.chunks);
    const auto summary = restore_tree(world, saved, dir + "/back");
    ASSERT_TRUE(summary) << summary.error().to_string();
    EXPECT_EQ(sys::read_file(world.files, dir + "/back/shards/0", 99).value_or(""), "of rank 0");
    EXPECT_EQ(sys::read_file(world.files, dir + "/back/shards/1", 99).value_or(""), "of rank 1");
  });
}

// More files than may be open, chunks in an order that suits nobody, four threads.
TEST_P(TreeTargets, ManyFilesAtOnceByManyThreads) {
  GetParam().run([](sys::World& world, const std::string& dir) {
    constexpr std::size_t kFiles = 600;
    constexpr std::size_t kWorkers = 4;
    TreeMaker make(world.files, dir + "/t");
    for (std::size_t i = 0; i < kFiles; ++i) {
      make.file(fmt::format("{:04}", i), fmt::format("first {:02}second {:03}", i % 100, i));
    }
    const SavedTree saved = save_tree(world, {dir + "/t"});
    const auto begun = TreeTarget::begin(world.files, saved.manifests, dir + "/back", {}, {});
    ASSERT_TRUE(begun) << begun.error().to_string();
    TreeTarget& target = **begun;
    std::vector<std::vector<MissingChunk>> missing(kFiles);
    std::vector<std::atomic<std::size_t>> left(kFiles);
    std::atomic<int> failures = 0;
    const auto in_threads = [&](const std::function<bool(std::size_t)>& work) {
      std::vector<std::unique_ptr<sys::Thread>> threads;
      threads.reserve(kWorkers);
      for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        threads.push_back(world.threads.spawn("worker", [&, worker](const std::stop_token&) {
          for (std::size_t i = worker; i < kFiles; i += kWorkers) failures += work(i) ? 0 : 1;
        }));
      }
      for (const auto& thread : threads) thread->join();
    };
    in_threads([&](std::size_t i) {
      auto chunks = target.prepare(i, {});
      if (!chunks) return false;
      missing[i] = *std::move(chunks);
      left[i] = missing[i].size();
      return true;
    });
    for (std::size_t round = 0; round < 3; ++round) {
      in_threads([&](std::size_t i) {
        const std::size_t file = (i * 7 + round) % kFiles;
        if (round >= missing[file].size()) return true;
        const MissingChunk& chunk = missing[file][missing[file].size() - 1 - round];
        const Sha256Digest& name = saved.manifests[0].chunks[chunk.chunk].chunk.name;
        if (!target.write(file, chunk.offset, saved.chunks.at(name))) return false;
        return --left[file] != 0 || target.finish_file(file).has_value();
      });
    }
    EXPECT_EQ(failures, 0);
    ASSERT_TRUE(target.finish({}));
    EXPECT_EQ(describe_tree(world.files, dir + "/back"), describe_tree(world.files, dir + "/t"));
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, TreeTargets,
                         ::testing::Values(sys::testing::real_world(), simulated_world()));

}  // namespace
}  // namespace outlast::checkpoint::testing
