#include "trainers/data/publish.h"

#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "sys/file_system.h"
#include "trainers/data/testing/data_folder.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::with_data_folder;

TEST(Publisher, KeepsObjectsAsTheFilesAre) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("job/metrics.jsonl", "one");
    folder.write("job/checkpoints/snapshot-1", "state 1");
    folder.write("job/checkpoints/.lock", "mine");
    folder.write("job/plot.svg.tmp", "half");
    Result<Publisher> publisher = Publisher::open("file://" + folder.at("bucket"), folder.world);
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(publisher->publish(folder.at("job"), {}));
    EXPECT_EQ(folder.read("bucket/metrics.jsonl"), "one");
    EXPECT_EQ(folder.read("bucket/checkpoints/snapshot-1"), "state 1");
    EXPECT_FALSE(folder.world.files.stat(folder.at("bucket/checkpoints/.lock")));
    EXPECT_FALSE(folder.world.files.stat(folder.at("bucket/plot.svg.tmp")));

    folder.write("job/metrics.jsonl", "two, longer");
    folder.write("job/checkpoints/snapshot-2", "state 2");
    ASSERT_TRUE(folder.world.files.remove_file(folder.at("job/checkpoints/snapshot-1")));
    ASSERT_TRUE(publisher->publish(folder.at("job"), {}));
    EXPECT_EQ(folder.read("bucket/metrics.jsonl"), "two, longer");
    EXPECT_EQ(folder.read("bucket/checkpoints/snapshot-2"), "state 2");
    EXPECT_FALSE(folder.world.files.stat(folder.at("bucket/checkpoints/snapshot-1")));
  });
}

TEST(Publisher, LeavesAloneWhatItHasNotWritten) {
  with_data_folder([](const DataFolder& folder) {
    folder.write("bucket/notes.txt", "somebody's");
    folder.write("job/metrics.jsonl", "one");
    Result<Publisher> publisher = Publisher::open("file://" + folder.at("bucket"), folder.world);
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(publisher->publish(folder.at("job"), {}));
    EXPECT_EQ(folder.read("bucket/notes.txt"), "somebody's");
  });
}

}  // namespace
}  // namespace outlast::trainers
