#include "trainers/images/pictures_ahead.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/posix_world.h"
#include "sys/threads.h"
#include "trainers/data/order.h"
#include "trainers/data/testing/data_folder.h"
#include "trainers/images/folder_pictures.h"
#include "trainers/images/picture_source.h"
#include "trainers/images/testing/picture_files.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {
namespace {

using testing::DataFolder;
using testing::kPictureFiles;
using testing::picture_file_options;
using testing::with_picture_files;

constexpr std::size_t kBatchSize = 3;
constexpr std::uint64_t kEpochBatches = 4;  // the last one has only two pictures

WantedBatch wanted_batch(std::uint64_t number) {
  const std::uint64_t epoch = number / kEpochBatches;
  const std::vector<std::uint32_t> order =
      epoch_order({.seed = 5, .epoch = epoch, .count = kPictureFiles});
  WantedBatch wanted{.numbers = {}, .seed = epoch};
  for (std::size_t i = number % kEpochBatches * kBatchSize;
       i < order.size() && wanted.numbers.size() < kBatchSize; ++i) {
    wanted.numbers.push_back(order[i]);
  }
  return wanted;
}

// The batches from `first` to 9, by files that nobody has read yet.
std::vector<PictureBatch> take(const DataFolder& folder, const PicturesAheadOptions& options,
                               std::uint64_t first = 0) {
  const std::unique_ptr<PictureSource> source =
      pictures_in_folder(folder.world.files, picture_file_options(folder));
  PicturesAhead ahead(*source, folder.world.threads, options);
  std::vector<PictureBatch> batches;
  for (std::uint64_t number = first; number < 9; ++number) {
    Result<PictureBatch> batch = ahead.take(number);
    EXPECT_TRUE(batch) << batch.error().to_string();
    if (batch) batches.push_back(*std::move(batch));
  }
  return batches;
}

void expect_same(const PictureBatch& one, const PictureBatch& other) {
  EXPECT_EQ(one.wanted, other.wanted);
  EXPECT_EQ(one.numbers, other.numbers);
  EXPECT_EQ(one.labels, other.labels);
  EXPECT_TRUE(one.rgb == other.rgb);
}

TEST(PicturesAhead, AreTheSameBytesWhateverTheNumberOfWorkersAndFromTheMiddle) {
  with_picture_files([](const DataFolder& folder) {
    folder.write("4.jpg", "no picture");
    const std::vector<PictureBatch> alone =
        take(folder, {.batch = wanted_batch, .ahead = 0, .workers = 0});
    ASSERT_EQ(alone.size(), 9U);
    EXPECT_EQ(alone[3].numbers.size(), 2U);
    EXPECT_NE(alone[0].wanted, alone[4].wanted);
    for (const unsigned workers : {0U, 1U, 3U}) {
      for (const std::size_t ahead : {0U, 1U, 4U}) {
        for (const std::uint64_t first : {0U, 3U, 7U}) {
          const std::vector<PictureBatch> batches = take(
              folder, {.batch = wanted_batch, .end = 9, .ahead = ahead, .workers = workers}, first);
          ASSERT_EQ(batches.size(), alone.size() - first);
          for (std::size_t i = 0; i < batches.size(); ++i)
            expect_same(batches[i], alone[first + i]);
        }
      }
    }
  });
}

TEST(PicturesAhead, VisitEachPictureOnceInAnEpochAndHaveItsLabel) {
  with_picture_files([](const DataFolder& folder) {
    const std::vector<PictureBatch> batches = take(folder, {.batch = wanted_batch});
    std::multiset<std::int64_t> labels;
    for (std::size_t i = 0; i < kEpochBatches; ++i) {
      EXPECT_EQ(batches[i].rgb.size(), batches[i].numbers.size() * 8 * 8 * 3);
      labels.insert(batches[i].labels.begin(), batches[i].labels.end());
    }
    EXPECT_EQ(labels, (std::multiset<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  });
}

TEST(PicturesAhead, ADamagedPictureIsAnErrorOfItsOwnBatchOnly) {
  with_picture_files([](const DataFolder& folder) {
    FolderPictureOptions strict = picture_file_options(folder);
    strict.is_strict = true;
    const auto in_order = [](std::uint64_t number) {
      const auto first = static_cast<std::uint32_t>(number * kBatchSize);
      return WantedBatch{.numbers = {first, first + 1, first + 2}, .seed = 1};
    };
    folder.write("4.jpg", "no picture");
    folder.write("5.jpg", "no picture");
    for (const unsigned workers : {0U, 3U}) {
      const std::unique_ptr<PictureSource> source = pictures_in_folder(folder.world.files, strict);
      PicturesAhead ahead(*source, folder.world.threads,
                          {.batch = in_order, .end = 3, .ahead = 2, .workers = workers});
      EXPECT_TRUE(ahead.take(0));
      const Result<PictureBatch> batch = ahead.take(1);
      ASSERT_FALSE(batch);
      const std::string sentence = batch.error().to_string();
      EXPECT_TRUE(sentence.starts_with("decode " + folder.at("4.jpg"))) << sentence;
      EXPECT_TRUE(ahead.take(2));
    }
  });
}

// Notes which pictures were read, and lets nobody go on until a gate is open.
class GatedPictures : public PictureSource {
 public:
  explicit GatedPictures(sys::Threads& threads) : monitor_(threads.make_monitor()) {}

  std::uint32_t count() const override { return 1000; }
  std::size_t side() const override { return 1; }
  const Normalisation& normalisation() const override { return normalisation_; }
  const std::vector<std::string>& class_names() const override { return names_; }
  std::string name(std::uint32_t /*number*/) const override { return ""; }
  std::int64_t label(std::uint32_t /*number*/) const override { return 0; }
  Result<std::uint32_t> read(const PictureRequest& request,
                             std::span<std::uint8_t> /*rgb*/) override {
    const std::unique_lock lock(*monitor_);
    begun_.insert(request.number);
    monitor_->notify_all();
    while (request.number >= gate_) monitor_->wait({});
    return request.number;
  }

  // Pictures below this number can be read.
  void open_gate(std::uint32_t gate) {
    const std::unique_lock lock(*monitor_);
    gate_ = gate;
    monitor_->notify_all();
  }
  void wait_until_begun(std::uint32_t number) {
    const std::unique_lock lock(*monitor_);
    while (!begun_.contains(number)) monitor_->wait({});
  }
  std::set<std::uint32_t> begun() {
    const std::unique_lock lock(*monitor_);
    return begun_;
  }

 private:
  const Normalisation normalisation_ = {};
  const std::vector<std::string> names_ = {};
  const std::unique_ptr<sys::Monitor> monitor_;
  std::set<std::uint32_t> begun_;
  std::uint32_t gate_ = 0;
};

WantedBatch one_picture(std::uint64_t number) {
  return {.numbers = {static_cast<std::uint32_t>(number)}, .seed = {}};
}

TEST(PicturesAhead, AreBegunBeforeTheyAreWantedButNoFurtherThanToldAndNotBehindTheEnd) {
  sys::RealWorld real;
  GatedPictures source(real.world().threads);
  source.open_gate(1000);
  {
    PicturesAhead ahead(source, real.world().threads,
                        {.batch = one_picture, .end = 6, .ahead = 2, .workers = 2});
    ASSERT_TRUE(ahead.take(1));
    source.wait_until_begun(3);
    EXPECT_EQ(source.begun(), (std::set<std::uint32_t>{1, 2, 3}));
    ASSERT_TRUE(ahead.take(2));
    ASSERT_TRUE(ahead.take(3));
    ASSERT_TRUE(ahead.take(4));
    ASSERT_TRUE(ahead.take(5));
  }
  EXPECT_EQ(source.begun(), (std::set<std::uint32_t>{1, 2, 3, 4, 5}));
}

TEST(PicturesAhead, ThrowAwayWhatWasPreparedWhenAnotherBatchIsWanted) {
  sys::RealWorld real;
  GatedPictures source(real.world().threads);
  source.open_gate(2);
  PicturesAhead ahead(source, real.world().threads,
                      {.batch = one_picture, .ahead = 3, .workers = 1});
  EXPECT_EQ(ahead.take(1).value().numbers, (std::vector<std::uint32_t>{1}));
  // The worker stays within picture 2, of a batch that nobody wants any more.
  source.wait_until_begun(2);
  EXPECT_EQ(ahead.take(0).value().numbers, (std::vector<std::uint32_t>{0}));
  source.open_gate(1000);
  EXPECT_EQ(ahead.take(7).value().numbers, (std::vector<std::uint32_t>{7}));
}

// The owner helps, so that workers often find out late that there is nothing left to do.
TEST(PicturesAhead, AWorkerThatComesTooLateTouchesNothingOfABatchThatWasTaken) {
  sys::RealWorld real;
  GatedPictures source(real.world().threads);
  source.open_gate(1000);
  PicturesAhead ahead(source, real.world().threads,
                      {.batch = [](std::uint64_t number) { return one_picture(number % 1000); },
                       .ahead = 1,
                       .workers = 3});
  for (std::uint64_t number = 0; number < 3000; ++number) {
    const auto wanted = static_cast<std::uint32_t>(number % 1000);
    ASSERT_EQ(ahead.take(number).value().numbers, (std::vector<std::uint32_t>{wanted}));
  }
}

TEST(PicturesAhead, MayEndWhilePicturesAreBeingRead) {
  sys::RealWorld real;
  GatedPictures source(real.world().threads);
  source.open_gate(1);
  auto ahead = std::make_unique<PicturesAhead>(
      source, real.world().threads,
      PicturesAheadOptions{.batch = one_picture, .ahead = 50, .workers = 3});
  ASSERT_TRUE(ahead->take(0));
  for (const std::uint32_t number : {1U, 2U, 3U}) source.wait_until_begun(number);
  const std::unique_ptr<sys::Thread> opener =
      real.world().threads.spawn("opener", [&](const auto&) { source.open_gate(1000); });
  ahead.reset();
  with_picture_files([](const DataFolder& folder) {
    const std::unique_ptr<PictureSource> files =
        pictures_in_folder(folder.world.files, picture_file_options(folder));
    for (std::uint64_t taken = 0; taken < 4; ++taken) {
      PicturesAhead some(*files, folder.world.threads,
                         {.batch = wanted_batch, .ahead = 50, .workers = 3});
      for (std::uint64_t number = 0; number < taken; ++number) EXPECT_TRUE(some.take(number));
    }
  });
}

}  // namespace
}  // namespace outlast::trainers
