#include "store/open/store_url.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace outlast::store {
namespace {

std::string shown(const char* text) {
  const auto url = parse_store_url(text);
  if (!url) return "(refused)";
  constexpr const char* kKinds[] = {"folder", "s3", "gcs", "azure"};
  return std::string(kKinds[static_cast<int>(url->kind)]) + "|" + url->account + "|" + url->bucket +
         "|" + url->path;
}

TEST(StoreUrl, KnowsTheFiveForms) {
  EXPECT_EQ(shown("/mnt/roots"), "folder|||/mnt/roots");
  EXPECT_EQ(shown("./outlast-root"), "folder|||./outlast-root");
  EXPECT_EQ(shown("file:///mnt/a b"), "folder|||/mnt/a b");
  EXPECT_EQ(shown("s3://bucket"), "s3||bucket|");
  EXPECT_EQ(shown("s3://bucket/a/b%2Fc/"), "s3||bucket|a/b%2Fc/");
  EXPECT_EQ(shown("gs://my.bucket/x"), "gcs||my.bucket|x");
  EXPECT_EQ(shown("az://account/container/x/y"), "azure|account|container|x/y");
}

TEST(StoreUrl, RefusesTheRestAndSaysWhatIsRight) {
  for (const char* bad : {"", "s3://", "s3:///x", "s3://a", "gs://bu cket", "az://account",
                          "az:///container", "http://host/bucket", "file://relative", "s3://b?x/y",
                          "s3:bucket/x", "~/roots", "/mnt/a\nb"}) {
    EXPECT_EQ(shown(bad), "(refused)") << bad;
  }
  EXPECT_EQ(shown("./s3:bucket"), "folder|||./s3:bucket");
  EXPECT_EQ(shown("~alice"), "folder|||~alice");
  EXPECT_EQ(parse_store_url("s3:/bucket").error().to_string(),
            "'s3:/bucket': write s3:// with two slashes; for a folder of this name, ./s3:…");
  EXPECT_EQ(parse_store_url("s4://bucket/x").error().to_string(),
            "'s4://bucket/x': 's4' is no kind of store; a path, s3://, gs:// or az:// is; did you "
            "mean 's3'?");
}

}  // namespace
}  // namespace outlast::store
