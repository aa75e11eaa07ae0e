#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sdk/snapshots.h"
#include "sdk/testing/file_trainer.h"

namespace outlast {
namespace {

class FileRanksTest : public FileSnapshotsTest {};

TEST_F(FileRanksTest, ResumeFromTheNewestStepThatAllRanksHave) {
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    FileTrainer trainer(options(rank, 3));
    for (const std::uint64_t step : {10U, 20U, 30U}) {
      if (step == 30 && rank == 1) continue;
      trainer.fill(step + rank);
      trainer.snapshots.save(step);
    }
  }
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    FileTrainer trainer(options(rank, 3));
    EXPECT_EQ(trainer.snapshots.resume(), 20U);
    EXPECT_TRUE(trainer.is_of(20 + rank));
  }
  // If what one of them has is torn, it is so for all.
  std::filesystem::resize_file(file("snapshot-20-rank-2-of-3.safetensors"), 100);
  FileTrainer trainer(options(0, 3));
  EXPECT_EQ(trainer.snapshots.resume(), std::nullopt);
}

TEST_F(FileRanksTest, OnlyOneSavesARankInAFolder) {
  FileTrainer trainer(options());
  trainer.fill(1);
  trainer.snapshots.save(1);
  FileTrainer twin(options());
  EXPECT_THROW(twin.snapshots.save(2), SnapshotError);
  EXPECT_THROW(twin.snapshots.resume(), SnapshotError);
  EXPECT_EQ(names_in(folder()), (std::set<std::string>{"snapshot-1-rank-0-of-1.safetensors"}));
}

TEST_F(FileRanksTest, WhatARankWasKilledOverIsRemoved) {
  std::filesystem::create_directories(folder());
  const std::string killed = "snapshot-12-rank-0-of-2.safetensors.7.unfinished";
  const std::string of_another = "snapshot-12-rank-1-of-2.safetensors.8.unfinished";
  std::ofstream(file(killed)) << "half";
  std::ofstream(file(of_another)) << "half";
  FileTrainer trainer(options(0, 2));
  trainer.snapshots.save(20);
  EXPECT_EQ(names_in(folder()),
            (std::set<std::string>{of_another, "snapshot-20-rank-0-of-2.safetensors"}));
}

TEST_F(FileRanksTest, WhatAllRanksHaveStaysUntilTheyHaveALaterOne) {
  FileTrainer fast(options(0, 2));
  FileTrainer slow(options(1, 2));
  slow.snapshots.save(10);
  for (const std::uint64_t step : {10U, 20U, 30U, 40U}) fast.snapshots.save(step);
  EXPECT_EQ(names_in(folder()),
            (std::set<std::string>{
                "snapshot-10-rank-0-of-2.safetensors", "snapshot-10-rank-1-of-2.safetensors",
                "snapshot-30-rank-0-of-2.safetensors", "snapshot-40-rank-0-of-2.safetensors"}));
  slow.snapshots.save(30);
  slow.snapshots.save(40);
  fast.snapshots.save(50);
  EXPECT_EQ(names_in(folder()),
            (std::set<std::string>{
                "snapshot-30-rank-1-of-2.safetensors", "snapshot-40-rank-0-of-2.safetensors",
                "snapshot-40-rank-1-of-2.safetensors", "snapshot-50-rank-0-of-2.safetensors"}));
}

TEST_F(FileRanksTest, AStepOfAnEarlierAttemptIsNeverHalfOfANewOne) {
  for (const std::uint32_t rank : {0U, 1U}) {
    FileTrainer trainer(options(rank, 2));
    trainer.fill(90 + rank);
    trainer.snapshots.save(90);
    if (rank == 0) trainer.snapshots.save(100);
  }
  for (const std::uint32_t rank : {0U, 1U}) {
    FileTrainer trainer(options(rank, 2));
    EXPECT_EQ(trainer.snapshots.resume(), 90U);
    if (rank == 1) trainer.snapshots.save(100);  // and rank 0 does not come to it
  }
  FileTrainer trainer(options(0, 2));
  EXPECT_EQ(trainer.snapshots.resume(), 90U);
  EXPECT_TRUE(trainer.is_of(90));
  EXPECT_EQ(names_in(folder()), (std::set<std::string>{"snapshot-100-rank-1-of-2.safetensors",
                                                       "snapshot-90-rank-0-of-2.safetensors",
                                                       "snapshot-90-rank-1-of-2.safetensors"}));
}

TEST_F(FileRanksTest, WhoStartsAnewSetsTheEarlierAttemptAside) {
  {
    FileTrainer trainer(options(0, 2));
    trainer.snapshots.save(10);
    trainer.snapshots.save(20);
  }
  FileTrainer other(options(1, 2));
  other.snapshots.save(30);
  FileTrainer trainer(options(0, 2));
  EXPECT_EQ(trainer.snapshots.resume(), std::nullopt);
  EXPECT_EQ(names_in(folder()), (std::set<std::string>{"snapshot-10-rank-0-of-2.safetensors.aside",
                                                       "snapshot-20-rank-0-of-2.safetensors.aside",
                                                       "snapshot-30-rank-1-of-2.safetensors"}));
  // Neither does it count from now on, nor is it removed.
  trainer.snapshots.save(30);
  EXPECT_EQ(other.snapshots.resume(), 30U);
  EXPECT_EQ(names_in(folder()).size(), 4U);
}

TEST_F(FileRanksTest, AResumeThatIsRefusedRemovesNothing) {
  {
    FileTrainer trainer(options(0, 2));
    trainer.snapshots.save(10);
    trainer.snapshots.save(20);
    FileTrainer other(options(1, 2));
    other.snapshots.save(10);
  }
  const std::set<std::string> before = names_in(folder());
  std::vector<float> weights(3);
  Snapshots snapshots(options(0, 2));
  snapshots.add("weights", weights.data(), weights.size());
  EXPECT_THROW(snapshots.resume(), SnapshotError);
  EXPECT_EQ(names_in(folder()), before);
}

TEST_F(FileRanksTest, SeveralRanksAreToldToSetEverySteps) {
  SnapshotOptions often = options(1, 2);
  often.file_interval = std::chrono::milliseconds(0);
  FileTrainer trainer(often);
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(trainer.snapshots.step_done(1));
  EXPECT_TRUE(trainer.snapshots.step_done(2));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "outlast: several processes without outlast save nothing by themselves: set "
            "every_steps\n");
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(FileRanksTest, WhoStartsAnewThoughThereAreSnapshotsSaysWhy) {
  const auto said_by = [](const SnapshotOptions& options) {
    FileTrainer trainer(options);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(trainer.snapshots.resume(), std::nullopt);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said_by(options(0, 2)), "");
  FileTrainer(options(0, 2)).snapshots.save(1);
  EXPECT_EQ(said_by(options(0, 4)),
            "outlast: " + folder() +
                " has snapshots of a job of 2 ranks, and this one has 4: they are left as they "
                "are, and training starts from the beginning\n");
  EXPECT_EQ(said_by(options(0, 2)),
            "outlast: " + folder() +
                " has snapshots, but no step that is whole for all 2 ranks: those of rank 0 are "
                "set aside (.aside), and training starts from the beginning\n");
  EXPECT_EQ(said_by(options(0, 2)), "");
}

}  // namespace
}  // namespace outlast
