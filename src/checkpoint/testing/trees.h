#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/codec.h"
#include "checkpoint/file_reader.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tree_scan.h"
#include "checkpoint/tree_target.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/testing/real_world_maker.h"
#include "sys/testing/world_maker.h"
#include "sys/world.h"

// Trees of files in tests, and a checkpoint of one that lives in memory.
namespace outlast::checkpoint::testing {

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

// Makes things in a folder, one line each.
class TreeMaker {
 public:
  TreeMaker(sys::FileSystem& files, std::string folder)
      : files_(files), folder_(std::move(folder)) {
    EXPECT_TRUE(sys::make_dirs(files_, folder_));
  }

  void file(const std::string& path, std::string_view text, std::uint32_t mode = 0644) {
    const auto file = files_.open(at(path), sys::OpenMode::kTruncate);
    ASSERT_TRUE(file) << file.error().to_string();
    EXPECT_TRUE((*file)->write_at(as_bytes(text), 0));
    EXPECT_TRUE((*file)->set_modified(next_time()));
    EXPECT_TRUE(files_.set_mode(at(path), mode));
    EXPECT_TRUE((*file)->sync());
  }
  void folder(const std::string& path) { EXPECT_TRUE(files_.make_dir(at(path))); }
  // When everything is in it.
  void finish_folder(const std::string& path, std::uint32_t mode) {
    EXPECT_TRUE(files_.set_modified(at(path), next_time()));
    EXPECT_TRUE(files_.set_mode(at(path), mode));
    EXPECT_TRUE(files_.sync_dir(at(path)));
  }
  void symlink(const std::string& path, const std::string& target) {
    EXPECT_TRUE(files_.make_symlink(target, at(path)));
  }
  void hardlink(const std::string& path, const std::string& target) {
    EXPECT_TRUE(files_.link(at(target), at(path)));
  }
  std::string at(const std::string& path) const { return folder_ + "/" + path; }

 private:
  WallTime next_time() {
    return WallTime(std::chrono::nanoseconds(1'500'000'000'000'000'123 + 1'000'000'007 * ++made_));
  }

  sys::FileSystem& files_;
  const std::string folder_;
  std::int64_t made_ = 0;
};

// Everything that is to be the same in a copy, as lines.
inline std::string describe_tree(sys::FileSystem& files, const std::string& folder) {
  const auto scan = scan_tree(files, {folder}, {});
  if (!scan) return scan.error().to_string();
  std::string text;
  for (const FoundItem& found : scan->found) {
    const Item& item = found.item;
    text += fmt::format("{} '{}' {:o} {} {}", to_string(item.kind), item.path, item.mode,
                        item.modified.time_since_epoch().count(), item.target);
    if (item.kind == ItemKind::kFile) {
      const std::string content = sys::read_file(files, found.path, 1U << 30U).value_or("(error)");
      text += content.size() < 100 ? content : sha256(as_bytes(content)).hex();
    }
    text += "\n";
  }
  return text;
}

struct SavedTree {
  std::vector<Manifest> manifests = {};
  std::map<Sha256Digest, Bytes> chunks = {};
};

inline constexpr std::size_t kTestChunkBytes = 8;

inline void save_file(sys::World& world, const FoundItem& found, std::size_t chunk_bytes,
                      SavedTree& saved) {
  Manifest& manifest = saved.manifests.back();
  Item item = found.item;
  if (item.kind == ItemKind::kFile) {
    const auto reader = FileReader::open(world.files, world.clock, found.path);
    ASSERT_TRUE(reader) << reader.error().to_string();
    for (std::uint64_t offset = 0; offset < item.size; offset += chunk_bytes) {
      Bytes bytes(std::min<std::uint64_t>(chunk_bytes, item.size - offset));
      ASSERT_TRUE((*reader)->read(bytes, offset));
      const Sha256Digest name = sha256(bytes);
      item.chunks.push_back(static_cast<std::uint32_t>(manifest.chunks.size()));
      const CodecKind codec = is_zero(bytes) ? CodecKind::kZero : CodecKind::kNone;
      manifest.chunks.push_back({.chunk = {.name = name,
                                           .raw_bytes = static_cast<std::uint32_t>(bytes.size()),
                                           .codec = codec}});
      if (codec != CodecKind::kZero) saved.chunks[name] = std::move(bytes);
    }
    EXPECT_TRUE((*reader)->check_unchanged());
  }
  manifest.items.push_back(std::move(item));
}

inline SavedTree save_tree(sys::World& world, const std::vector<std::string>& paths,
                           std::size_t chunk_bytes = kTestChunkBytes) {
  SavedTree saved;
  saved.manifests.emplace_back();
  const auto scan = scan_tree(world.files, paths, {});
  EXPECT_TRUE(scan) << (scan ? "" : scan.error().to_string());
  if (!scan) return saved;
  for (const FoundItem& found : scan->found) save_file(world, found, chunk_bytes, saved);
  return saved;
}

inline Result<TreeTarget::Summary> restore_tree(sys::World& world, const SavedTree& saved,
                                                const std::string& folder,
                                                TreeTarget::Options options = {}) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<TreeTarget> target,
                     TreeTarget::begin(world.files, saved.manifests, folder, options, {}));
  std::vector<std::vector<MissingChunk>> missing(target->file_count());
  for (std::size_t i = 0; i < target->file_count(); ++i) {
    OUTLAST_TRY_ASSIGN(missing[i], target->prepare(i, {}));
  }
  for (std::size_t i = 0; i < target->file_count(); ++i) {
    for (const MissingChunk& chunk : missing[i]) {
      const Sha256Digest& name = saved.manifests[chunk.manifest].chunks[chunk.chunk].chunk.name;
      OUTLAST_TRY(target->write(i, chunk.offset, saved.chunks.at(name)));
    }
    if (!missing[i].empty()) OUTLAST_TRY(target->finish_file(i));
  }
  return target->finish({});
}

}  // namespace outlast::checkpoint::testing
