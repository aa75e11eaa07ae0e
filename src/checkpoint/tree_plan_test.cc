#include "checkpoint/tree_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "checkpoint/manifest.h"

namespace outlast::checkpoint {
namespace {

Manifest with_items(std::vector<Item> items) {
  return {.chunks = {{.chunk = {.raw_bytes = 5}}}, .items = std::move(items)};
}

void expect_refused(const std::vector<Manifest>& manifests, ErrorCode code, std::string_view why) {
  const auto plan = plan_tree(manifests);
  ASSERT_FALSE(plan) << why;
  EXPECT_EQ(plan.error().code(), code) << plan.error().to_string();
  EXPECT_NE(plan.error().to_string().find(why), std::string::npos) << plan.error().to_string();
}

TEST(TreePlans, HaveEverythingByKindAndTheFoldersThatNobodyNamed) {
  const std::vector<Manifest> manifests = {
      with_items({{.kind = ItemKind::kFolder, .path = "a"},
                  {.kind = ItemKind::kFile, .path = "a/b/c/file"},
                  {.kind = ItemKind::kHardlink, .path = "a/link", .target = "a/b/c/file"},
                  {.kind = ItemKind::kRegion, .path = "memory"}}),
      with_items({{.kind = ItemKind::kFolder, .path = "a"},
                  {.kind = ItemKind::kSymlink, .path = "a/b/sym", .target = "../.."},
                  {.kind = ItemKind::kFile, .path = "z", .size = 5, .chunks = {0}}})};
  const auto plan = plan_tree(manifests);
  ASSERT_TRUE(plan) << plan.error().to_string();
  std::vector<std::string_view> folders;
  for (const PlannedFolder& folder : plan->folders) folders.push_back(folder.path);
  EXPECT_EQ(folders, (std::vector<std::string_view>{"a", "a/b", "a/b/c"}));
  EXPECT_EQ(plan->folders[0].item, &manifests[0].items[0]);
  EXPECT_EQ(plan->folders[1].item, nullptr);
  ASSERT_EQ(plan->files.size(), 2U);
  EXPECT_EQ(plan->files[0].other_names, std::vector<const Item*>{&manifests[0].items[2]});
  EXPECT_EQ(plan->files[1].manifest, 1U);
  EXPECT_EQ(plan->files[1].stored_bytes, 5U);
  EXPECT_EQ(plan->symlinks.size(), 1U);
  EXPECT_EQ(plan->paths.size(), 7U);
}

TEST(TreePlans, RefuseWhatWouldLeaveTheFolder) {
  for (const char* path : {"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a"}) {
    expect_refused({with_items({{.path = path}})}, ErrorCode::kCorrupt, "is not a path inside");
  }
  expect_refused({with_items({{.kind = ItemKind::kSymlink, .path = "a", .target = "/etc"},
                              {.path = "a/passwd"}})},
                 ErrorCode::kCorrupt, "'a' has something in it");
  // Also if the two come from different ranks.
  expect_refused({with_items({{.kind = ItemKind::kSymlink, .path = "a", .target = "/etc"}}),
                  with_items({{.path = "a/b/passwd"}})},
                 ErrorCode::kCorrupt, "'a' has something in it");
}

TEST(TreePlans, RefuseWhatCannotBeMade) {
  expect_refused({with_items({{.path = ".outlast-restoring"}})}, ErrorCode::kCorrupt,
                 "only outlast");
  expect_refused({with_items({{.path = "a/x.outlast-part/b"}})}, ErrorCode::kCorrupt,
                 "only outlast");
  expect_refused({with_items({{.path = "a"}, {.path = "a"}})}, ErrorCode::kCorrupt, "twice");
  expect_refused({with_items({{.path = "a", .size = 4, .chunks = {0}}})}, ErrorCode::kCorrupt,
                 "not as long");
  expect_refused({with_items({{.path = "a", .chunks = {1}}})}, ErrorCode::kCorrupt, "unknown");
  expect_refused({with_items({{.kind = ItemKind::kHardlink, .path = "a", .target = "b"}})},
                 ErrorCode::kCorrupt, "second name");
  expect_refused({with_items({{.kind = ItemKind::kSymlink, .path = "a"}})}, ErrorCode::kCorrupt,
                 "leads to nothing");
  std::vector<Manifest> ranks = {with_items({{.path = "a"}}), with_items({{.path = "a"}})};
  ranks[1].rank = 1;
  expect_refused(ranks, ErrorCode::kInvalidArgument, "ranks 0 and 1 have both saved a 'a'");
}

}  // namespace
}  // namespace outlast::checkpoint
