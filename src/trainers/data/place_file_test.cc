#include "trainers/data/place_file.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "base/result.h"
#include "trainers/data/testing/data_folder.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::with_data_folder;

TEST(PlaceFile, IsAFileOrAnObject) {
  with_data_folder([](const DataFolder& folder) {
    for (const std::string& place :
         {folder.at("plain/model.json"), "file://" + folder.at("bucket/deep/model.json")}) {
      const Result<std::string> none = read_place(folder.world, place, 100);
      ASSERT_FALSE(none);
      EXPECT_EQ(none.error().code(), ErrorCode::kNotFound) << none.error().to_string();
      ASSERT_TRUE(write_place(folder.world, place, "one"));
      ASSERT_TRUE(write_place(folder.world, place, "another"));
      EXPECT_EQ(read_place(folder.world, place, 100).value(), "another");
      EXPECT_FALSE(read_place(folder.world, place, 3));
    }
    EXPECT_EQ(folder.read("bucket/deep/model.json"), "another");
  });
}

TEST(PlaceFile, WantsAKeyBehindTheBucket) {
  with_data_folder([](const DataFolder& folder) {
    EXPECT_FALSE(write_place(folder.world, "s3://bucket", "x"));
    EXPECT_FALSE(write_place(folder.world, "s3://bucket/", "x"));
  });
}

}  // namespace
}  // namespace outlast::trainers
