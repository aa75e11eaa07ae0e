#include "sys/file_ops.h"

#include <gtest/gtest.h>

namespace outlast::sys {
namespace {

TEST(JoinPath, PutsOneSlashBetween) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("/", "b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
}

TEST(ParentPath, IsTheFolderThatHoldsTheLastName) {
  EXPECT_EQ(parent_path("/a/b"), "/a");
  EXPECT_EQ(parent_path("/a/b/"), "/a");
  EXPECT_EQ(parent_path("/a"), "/");
  EXPECT_EQ(parent_path("/"), "/");
  EXPECT_EQ(parent_path("a"), ".");
  EXPECT_EQ(parent_path("a/b"), "a");
}

TEST(BaseName, IsTheLastName) {
  EXPECT_EQ(base_name("/a/b"), "b");
  EXPECT_EQ(base_name("/a/b/"), "b");
  EXPECT_EQ(base_name("b"), "b");
  EXPECT_EQ(base_name("/"), "/");
}

}  // namespace
}  // namespace outlast::sys
