#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "job/root_url.h"
#include "job/work_path.h"

// Roots, and paths that travel.
namespace outlast::job {
namespace {

TEST(RootUrl, KnowsFourKindsAndPlainPaths) {
  for (const std::string_view root :
       {"./outlast-root", "/data/outlast", "outlast", "/", "file:///data", "file:///",
        "s3://my-bucket", "s3://my-bucket/a/b", "gs://my_bucket.example.com/x",
        "az://account1/container/prefix", "az://account1/container", "a folder/with spaces"}) {
    ASSERT_TRUE(canonical_root(root)) << root << canonical_root(root).error().to_string();
    EXPECT_EQ(*canonical_root(root), root);
  }
  EXPECT_EQ(*canonical_root("s3://bucket/a//"), "s3://bucket/a");
  EXPECT_EQ(*canonical_root("/data//"), "/data");
}

TEST(RootUrl, SaysWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "it is empty"},
      {"http://host/bucket", "'http' is not a kind of root"},
      {"gcs://bucket", "'gcs' is not a kind of root; did you mean 'gs'?"},
      {"S3://bucket", "'S3' is not a kind of root; did you mean 's3'?"},
      {"s3:/bucket", "write s3:// with two slashes"},
      {"s3://", "the bucket is missing"},
      {"s3:///prefix", "the bucket is missing"},
      {"s3://ab", "a bucket's name has 3 to 222 characters"},
      {"s3://Bucket", "'B' cannot be in the name of a bucket"},
      {"s3://-bucket", "a bucket's name starts and ends with a letter or digit"},
      {"s3://bucket/a//b", "there is a '//' in the prefix"},
      {"s3://bucket/../b", "'..' is not a folder"},
      {"s3://key:secret@bucket", "a space, '?', '#', '@' or '\\' cannot be in it"},
      {"az://account", "the container is missing"},
      {"az://my-account/box", "'-' cannot be in the name of a storage account"},
      {"file://host/path", "a file URL has three slashes and a whole path: file:///path"},
      {"~/outlast", "'~' is not expanded here; write the path out"},
      {"a\nb", "it has a control character"},
  };
  for (const auto& [root, why] : cases) {
    const auto result = canonical_root(root);
    ASSERT_FALSE(result) << root;
    EXPECT_EQ(result.error().sentence(), why) << root;
  }
}

TEST(WorkPath, IsShortened) {
  EXPECT_EQ(*canonical_file("./a//b/../c/"), "a/c");
  EXPECT_EQ(*canonical_file("."), ".");
  EXPECT_EQ(*canonical_file("a/.."), ".");
  EXPECT_EQ(*canonical_cache("~/.cache//x/"), "~/.cache/x");
  EXPECT_EQ(*canonical_cache(".venv"), ".venv");
  EXPECT_EQ(*canonical_checkpoint_dir("/scratch/./x"), "/scratch/x");
}

TEST(WorkPath, ANameThatHasAMeaningKeepsItsDot) {
  EXPECT_EQ(*canonical_file("./~/x"), "./~/x");
  EXPECT_EQ(*canonical_cache("./~/x"), "./~/x");
  EXPECT_EQ(*canonical_checkpoint_dir("./auto"), "./auto");
  EXPECT_EQ(*canonical_checkpoint_dir("./auto/x"), "auto/x");
}

TEST(WorkPath, RefusesWhatCannotTravel) {
  for (const std::string_view path :
       {"", "..", "../a", "a/../../b", "/a", "~", "~/a", "*.py", "a?"}) {
    EXPECT_FALSE(canonical_file(path)) << path;
  }
  for (const std::string_view path : {"", "..", "/root/.cache", ".", "~", "~/", "~/..", "a/.."}) {
    EXPECT_FALSE(canonical_cache(path)) << path;
  }
  for (const std::string_view path : {"", "..", "/", "/..", "~/a"}) {
    EXPECT_FALSE(canonical_checkpoint_dir(path)) << path;
  }
  EXPECT_FALSE(canonical_file(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace outlast::job
