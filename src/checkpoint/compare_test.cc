#include "checkpoint/compare.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/plain_files.h"

namespace outlast::checkpoint {
namespace compare_test {

// Adds an item that is made of these chunks, each with its own bytes.
void add(Manifest& manifest, ItemKind kind, const std::string& path,
         const std::vector<std::string>& chunks = {}, const std::string& target = "") {
  Item item = {.kind = kind, .path = path, .mode = 0644, .target = target};
  for (const std::string& bytes : chunks) {
    item.chunks.push_back(static_cast<std::uint32_t>(manifest.chunks.size()));
    manifest.chunks.push_back({.chunk = {.name = sha256(as_bytes(bytes)),
                                         .raw_bytes = static_cast<std::uint32_t>(bytes.size())}});
    item.size += bytes.size();
  }
  manifest.items.push_back(std::move(item));
}

LoadedCheckpoint of(std::vector<Manifest> manifests) {
  return {.entry = {.seq = 1}, .manifests = std::move(manifests)};
}

TEST(Compare, TellsAddedRemovedAndChangedByTheirChunks) {
  Manifest before;
  add(before, ItemKind::kFile, "changed", {"same", "old"});
  add(before, ItemKind::kFile, "gone", {"bytes"});
  add(before, ItemKind::kFile, "kept", {"kept"});
  add(before, ItemKind::kSymlink, "link", {}, "here");
  add(before, ItemKind::kFile, "was-file", {"f"});
  Manifest after;
  add(after, ItemKind::kFile, "changed", {"new!", "same"});
  add(after, ItemKind::kFile, "kept", {"kept"});
  add(after, ItemKind::kSymlink, "link", {}, "there");
  add(after, ItemKind::kFile, "new", {"many", "bytes"});
  add(after, ItemKind::kFolder, "was-file");
  const LoadedCheckpoint first = of({before});
  const LoadedCheckpoint second = of({after});
  const std::vector<ItemChange> changes = compare(first, second);
  std::string story;
  for (const ItemChange& change : changes) {
    story += change.path +
             (change.is_added()        ? " added"
              : change.is_removed()    ? " removed"
              : change.kind_differs    ? " kind"
              : change.content_differs ? " content"
                                       : " mode") +
             " " + std::to_string(change.changed_bytes) + "\n";
  }
  EXPECT_EQ(story,
            "changed content 4\n"
            "gone removed 0\n"
            "link content 0\n"
            "new added 9\n"
            "was-file kind 0\n");
  EXPECT_TRUE(compare(first, first).empty());
}

TEST(Compare, KeepsTheRegionsOfRanksApart) {
  Manifest zero;
  add(zero, ItemKind::kRegion, "model", {"zero"});
  Manifest one = {.rank = 1};
  add(one, ItemKind::kRegion, "model", {"one"});
  Manifest one_later = {.rank = 1};
  add(one_later, ItemKind::kRegion, "model", {"two"});
  const LoadedCheckpoint before = of({zero, one});
  const LoadedCheckpoint after = of({zero, one_later});
  const std::vector<ItemChange> changes = compare(before, after);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, "rank-1/model");
}

TEST(PlainFiles, RegionsBecomeFilesInFolders) {
  Manifest manifest;
  add(manifest, ItemKind::kFolder, "a");
  add(manifest, ItemKind::kRegion, "a/b/c", {"region"});
  add(manifest, ItemKind::kFile, "z", {"file"});
  const auto plain = with_regions_as_files(of({manifest}));
  ASSERT_TRUE(plain) << plain.error().to_string();
  std::string story;
  for (const Item& item : plain->manifests[0].items) {
    story += std::string(to_string(item.kind)) + " " + item.path + "\n";
  }
  EXPECT_EQ(story, "folder a\nfolder a/b\nfile a/b/c\nfile z\n");
}

TEST(PlainFiles, RegionsOfSeveralRanksHaveAFolderEach) {
  Manifest zero;
  add(zero, ItemKind::kRegion, "model", {"zero"});
  Manifest one = {.rank = 1};
  add(one, ItemKind::kRegion, "model", {"one"});
  const auto plain = with_regions_as_files(of({zero, one}));
  ASSERT_TRUE(plain) << plain.error().to_string();
  EXPECT_EQ(plain->manifests[0].items[1].path, "rank-0/model");
  EXPECT_EQ(plain->manifests[1].items[1].path, "rank-1/model");
}

TEST(PlainFiles, NamesThatClashAreRefused) {
  Manifest files;
  add(files, ItemKind::kFile, "rank-1", {"in the way"});
  Manifest regions = {.rank = 1};
  add(regions, ItemKind::kRegion, "model", {"one"});
  const auto clash = with_regions_as_files(of({files, regions}));
  ASSERT_FALSE(clash);
  EXPECT_EQ(clash.error().code(), ErrorCode::kAlreadyExists);
  Manifest nested;
  add(nested, ItemKind::kRegion, "a", {"1"});
  add(nested, ItemKind::kRegion, "a/b", {"2"});
  EXPECT_FALSE(with_regions_as_files(of({nested})));
}

}  // namespace compare_test
}  // namespace outlast::checkpoint
