#include "trainers/images/image_feed.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "trainers/data/order.h"
#include "trainers/data/testing/data_folder.h"
#include "trainers/images/testing/made_pictures.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::made_jpeg;
using testing::made_picture;
using testing::with_data_folder;

constexpr std::size_t kFiles = 11;

ImageFeedOptions feed_options(const DataFolder& folder) {
  ImageFeedOptions options;
  options.folder = folder.path;
  for (std::size_t i = 0; i < kFiles; ++i) {
    options.files.push_back(
        {.path = fmt::format("{}.jpg", i), .label = static_cast<std::uint16_t>(i)});
  }
  options.batch_size = 3;
  options.transform.size = {.width = 8, .height = 8};
  options.seed = 5;
  options.order = [](std::uint64_t epoch) {
    return epoch_order({.seed = 5, .epoch = epoch, .count = kFiles});
  };
  return options;
}

void with_pictures(const std::function<void(const DataFolder&)>& body) {
  with_data_folder([&](const DataFolder& folder) {
    for (std::size_t i = 0; i < kFiles; ++i) {
      folder.write(fmt::format("{}.jpg", i),
                   made_jpeg(made_picture({.width = 30 + i, .height = 20}, static_cast<int>(i))));
    }
    body(folder);
  });
}

std::vector<ImageBatch> take(const DataFolder& folder, const ImageFeedOptions& options, int count) {
  ImageFeed feed(folder.world.files, folder.world.threads, options);
  std::vector<ImageBatch> batches;
  for (int i = 0; i < count; ++i) {
    Result<ImageBatch> batch = feed.next({});
    EXPECT_TRUE(batch) << batch.error().to_string();
    if (batch) batches.push_back(*std::move(batch));
  }
  return batches;
}

void expect_same(const ImageBatch& one, const ImageBatch& other) {
  EXPECT_EQ(one.step, other.step);
  EXPECT_EQ(one.epoch, other.epoch);
  EXPECT_EQ(one.count, other.count);
  EXPECT_EQ(one.labels, other.labels);
  EXPECT_TRUE(one.pixels == other.pixels) << "step " << one.step;
  EXPECT_EQ(one.skipped, other.skipped);
}

TEST(ImageFeed, GivesTheSameBytesWhateverTheNumberOfWorkers) {
  with_pictures([](const DataFolder& folder) {
    folder.write("4.jpg", "no picture");
    ImageFeedOptions options = feed_options(folder);
    options.workers = 0;
    const std::vector<ImageBatch> alone = take(folder, options, 9);
    for (const unsigned workers : {1U, 3U}) {
      for (const std::size_t ahead : {1U, 4U}) {
        options.workers = workers;
        options.batches_ahead = ahead;
        const std::vector<ImageBatch> batches = take(folder, options, 9);
        ASSERT_EQ(batches.size(), alone.size());
        for (std::size_t i = 0; i < alone.size(); ++i) expect_same(batches[i], alone[i]);
      }
    }
  });
}

TEST(ImageFeed, VisitsEachFileOnceInAnEpochAndOtherwiseInTheNext) {
  with_pictures([](const DataFolder& folder) {
    ImageFeedOptions options = feed_options(folder);
    options.keep_rest = true;
    const std::vector<ImageBatch> batches = take(folder, options, 8);
    ASSERT_EQ(batches.size(), 8U);
    std::vector<std::uint16_t> first;
    std::vector<std::uint16_t> second;
    for (const ImageBatch& batch : batches) {
      std::vector<std::uint16_t>& labels = batch.epoch == 0 ? first : second;
      labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
      EXPECT_EQ(batch.pixels.size(), batch.count * 8 * 8 * 3);
    }
    EXPECT_EQ(batches[3].count, 2U);
    EXPECT_EQ(std::set<std::uint16_t>(first.begin(), first.end()).size(), kFiles);
    EXPECT_EQ(std::set<std::uint16_t>(second.begin(), second.end()).size(), kFiles);
    EXPECT_NE(first, second);
  });
}

TEST(ImageFeed, LeavesOutTheRestUnlessItIsWanted) {
  with_pictures([](const DataFolder& folder) {
    ImageFeedOptions options = feed_options(folder);
    ImageFeed feed(folder.world.files, folder.world.threads, options);
    EXPECT_EQ(feed.steps_per_epoch(), 3U);
    options.end_step = 1;
    options.order = {};
    ImageFeed one(folder.world.files, folder.world.threads, options);
    EXPECT_EQ(one.next({}).value().labels, (std::vector<std::uint16_t>{0, 1, 2}));
    EXPECT_EQ(one.next({}).error().code(), ErrorCode::kInvalidArgument);
  });
}

TEST(ImageFeed, GoesOnInTheMiddleAsIfItHadNeverStopped) {
  with_pictures([](const DataFolder& folder) {
    ImageFeedOptions options = feed_options(folder);
    options.workers = 2;
    const std::vector<ImageBatch> all = take(folder, options, 8);
    for (const std::uint64_t first : {1U, 3U, 5U}) {
      options.first_step = first;
      const std::vector<ImageBatch> rest = take(folder, options, 3);
      ASSERT_EQ(rest.size(), 3U);
      for (std::size_t i = 0; i < rest.size(); ++i) expect_same(rest[i], all[first + i]);
    }
  });
}

TEST(ImageFeed, ReplacesWhatIsNoPictureByTheNextInTheOrder) {
  with_pictures([](const DataFolder& folder) {
    folder.write("1.jpg", folder.read("1.jpg").substr(0, 300));
    folder.write("2.jpg", "no picture");
    ImageFeedOptions options = feed_options(folder);
    options.order = {};
    const std::vector<ImageBatch> batches = take(folder, options, 2);
    ASSERT_EQ(batches.size(), 2U);
    EXPECT_EQ(batches[0].labels, (std::vector<std::uint16_t>{0, 3, 3}));
    EXPECT_EQ(batches[0].skipped, 3U);
    EXPECT_EQ(batches[1].labels, (std::vector<std::uint16_t>{3, 4, 5}));
    EXPECT_EQ(batches[1].skipped, 0U);
  });
}

TEST(ImageFeed, NamesTheFileIfItIsStrictOrCannotReadIt) {
  with_pictures([](const DataFolder& folder) {
    folder.write("1.jpg", "no picture");
    folder.write("2.jpg", "no picture");
    ImageFeedOptions options = feed_options(folder);
    options.order = {};
    options.strict = true;
    for (const unsigned workers : {0U, 3U}) {
      options.workers = workers;
      ImageFeed feed(folder.world.files, folder.world.threads, options);
      const Result<ImageBatch> batch = feed.next({});
      ASSERT_FALSE(batch);
      EXPECT_TRUE(batch.error().to_string().starts_with("read the picture " + folder.at("1.jpg")))
          << batch.error().to_string();
      EXPECT_EQ(feed.next({}).value().step, 1U);
    }
    options.strict = false;
    ASSERT_TRUE(folder.world.files.remove_file(folder.at("0.jpg")));
    ImageFeed feed(folder.world.files, folder.world.threads, options);
    EXPECT_EQ(feed.next({}).error().code(), ErrorCode::kNotFound);
  });
}

TEST(ImageFeed, SaysThatThereIsNoPictureAtAll) {
  with_data_folder([](const DataFolder& folder) {
    for (std::size_t i = 0; i < kFiles; ++i) folder.write(fmt::format("{}.jpg", i), "none");
    ImageFeed feed(folder.world.files, folder.world.threads, feed_options(folder));
    EXPECT_EQ(
        feed.next({}).error().to_string(),
        fmt::format("none of the {} files in {} is readable as a picture", kFiles, folder.path));
  });
}

TEST(ImageFeed, MayEndAtAnyTime) {
  with_pictures([](const DataFolder& folder) {
    ImageFeedOptions options = feed_options(folder);
    options.workers = 3;
    options.batches_ahead = 50;
    for (int taken = 0; taken < 4; ++taken) take(folder, options, taken);
    std::stop_source stop;
    stop.request_stop();
    options.workers = 1;
    options.batch_size = kFiles;
    ImageFeed feed(folder.world.files, folder.world.threads, options);
    const Result<ImageBatch> batch = feed.next({.stop = stop.get_token()});
    // Whichever comes first; a stopped wait loses nothing.
    if (!batch) {
      EXPECT_EQ(batch.error().code(), ErrorCode::kCancelled);
      EXPECT_EQ(feed.next({}).value().step, 0U);
    }
  });
}

}  // namespace
}  // namespace outlast::trainers
