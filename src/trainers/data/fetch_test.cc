#include "trainers/data/fetch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "store/transfer/copier.h"
#include "sys/file_system.h"
#include "trainers/data/testing/data_folder.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::with_data_folder;

TEST(LocalData, IsAPlainPathAsItIs) {
  with_data_folder([](const DataFolder& folder) {
    EXPECT_EQ(
        local_data({.from = "not/there", .cache_folder = folder.at("cache")}, folder.world, {}, {})
            .value(),
        "not/there");
    EXPECT_TRUE(folder.world.files.list(folder.path).value().empty());
  });
}

TEST(LocalData, IsACopyOfEverythingBelowAUrl) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("bucket/set/train/a.jpg", "aaa");
    folder.write("bucket/set/val/b.jpg", "bb");
    folder.write("bucket/other/c.jpg", "c");
    const DataPlace place = {.from = "file://" + folder.at("bucket/set"),
                             .cache_folder = folder.at("cache")};
    const Result<std::string> copy = local_data(place, folder.world, {}, {});
    ASSERT_TRUE(copy) << copy.error().to_string();
    EXPECT_TRUE(copy->starts_with(folder.at("cache/set-"))) << *copy;
    const DataFolder copied = {.world = folder.world, .path = *copy};
    EXPECT_EQ(copied.read("train/a.jpg"), "aaa");
    EXPECT_EQ(copied.read("val/b.jpg"), "bb");
    EXPECT_EQ(folder.world.files.list(*copy).value().size(), 2U);
    // With a slash at its end it is the same place.
    EXPECT_EQ(local_data({.from = place.from + "/", .cache_folder = place.cache_folder},
                         folder.world, {}, {})
                  .value(),
              *copy);
  });
}

TEST(LocalData, LeavesWhatHasTheRightSizeAndBringsTheRest) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("set/a", "aaa");
    folder.write("set/b", "bbb");
    const DataPlace place = {.from = "file://" + folder.at("set"),
                             .cache_folder = folder.at("cache")};
    const DataFolder copied = {.world = folder.world,
                               .path = local_data(place, folder.world, {}, {}).value()};
    copied.write("a", "xxx");
    copied.write("b", "cut");
    copied.write("b", "b");
    std::uint64_t added = 0;
    ASSERT_TRUE(local_data(
        place, folder.world,
        [&](const store::CopyProgress& progress) { added = progress.copies_added; }, {}));
    EXPECT_EQ(copied.read("a"), "xxx");
    EXPECT_EQ(copied.read("b"), "bbb");
    EXPECT_LE(added, 1U);
  });
}

TEST(LocalData, IsTheOneFileThatAUrlNames) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("set/adult.data", "rows");
    const Result<std::string> copy = local_data(
        {.from = "file://" + folder.at("set/adult.data"), .cache_folder = folder.at("cache")},
        folder.world, {}, {});
    ASSERT_TRUE(copy) << copy.error().to_string();
    EXPECT_TRUE(copy->ends_with("/adult.data")) << *copy;
    EXPECT_EQ((DataFolder{.world = folder.world, .path = ""}.read(*copy)), "rows");
  });
}

TEST(LocalData, SaysThatNothingIsThere) {
  with_data_folder([](const DataFolder& folder) {
    const Result<std::string> none =
        local_data({.from = "file://" + folder.at("none"), .cache_folder = folder.at("cache")},
                   folder.world, {}, {});
    EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
    EXPECT_EQ(none.error().to_string(), "there is nothing below file://" + folder.at("none") +
                                            ": check the address of the data");
    EXPECT_EQ(
        local_data({.from = "ftp://x/y", .cache_folder = folder.at("cache")}, folder.world, {}, {})
            .error()
            .code(),
        ErrorCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace outlast::trainers
