#include "sdk/file_snapshots.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "sdk/snapshots.h"
#include "sdk/testing/file_trainer.h"

namespace outlast {
namespace {

TEST_F(FileSnapshotsTest, AreWrittenAndReadWithoutOutlast) {
  {
    FileTrainer trainer(options());
    EXPECT_FALSE(trainer.snapshots.has_agent());
    EXPECT_EQ(trainer.snapshots.resume(), std::nullopt);
    for (const std::uint64_t step : {8, 9, 10, 11}) {
      trainer.fill(step);
      trainer.snapshots.save(step);
    }
    trainer.fill(12);
    trainer.snapshots.save_async(12);
    EXPECT_FALSE(trainer.snapshots.notice());
    trainer.snapshots.progress(12);
    trainer.snapshots.done();
  }
  EXPECT_EQ(names_in(folder()), (std::set<std::string>{"snapshot-11-rank-0-of-1.safetensors",
                                                       "snapshot-12-rank-0-of-1.safetensors"}));
  FileTrainer next(options());
  EXPECT_EQ(next.snapshots.resume(), 12U);
  EXPECT_TRUE(next.is_of(12));
}

TEST_F(FileSnapshotsTest, WhoGoesBackLeavesNothingOfALaterStep) {
  FileTrainer trainer(options());
  for (const std::uint64_t step : {8, 9, 3}) {
    trainer.fill(step);
    trainer.snapshots.save(step);
  }
  EXPECT_EQ(names_in(folder()), (std::set<std::string>{"snapshot-3-rank-0-of-1.safetensors"}));
  trainer.fill(4);
  EXPECT_EQ(trainer.snapshots.resume(), 3U);
  EXPECT_TRUE(trainer.is_of(3));
}

TEST_F(FileSnapshotsTest, ASocketWhereNobodyListensIsNoOutlast) {
  ::setenv("OUTLAST_SOCKET", "/nowhere/socket", 1);
  ::testing::internal::CaptureStderr();
  FileTrainer trainer(options());
  trainer.fill(1);
  trainer.snapshots.save(1);
  const std::string said = ::testing::internal::GetCapturedStderr();
  ::unsetenv("OUTLAST_SOCKET");
  EXPECT_NE(said.find("nobody listens at OUTLAST_SOCKET (/nowhere/socket)"), std::string::npos);
  EXPECT_EQ(trainer.snapshots.resume(), 1U);
}

TEST_F(FileSnapshotsTest, TornAndForeignFilesArePassedOver) {
  FileTrainer trainer(options());
  trainer.fill(5);
  trainer.snapshots.save(5);
  const std::string sound = file("snapshot-5-rank-0-of-1.safetensors");
  std::filesystem::copy_file(sound, file("snapshot-6-rank-0-of-1.safetensors"));  // another step
  std::filesystem::copy_file(sound, file("snapshot-7-rank-0-of-1.safetensors"));
  std::filesystem::resize_file(file("snapshot-7-rank-0-of-1.safetensors"), 1'000'000);
  std::ofstream(file("snapshot-8-rank-0-of-1.safetensors")) << "not a snapshot at all";
  std::ofstream(file("snapshot-9-rank-0-of-1.safetensors"));
  std::filesystem::copy_file(sound, file("snapshot-10-rank-0-of-2.safetensors"));
  std::filesystem::copy_file(sound, file("snapshot-011-rank-0-of-1.safetensors"));
  std::filesystem::copy_file(sound, file("snapshot-12-rank-0-of-1.safetensors.7.unfinished"));
  ::testing::internal::CaptureStderr();
  trainer.fill(99);
  EXPECT_EQ(trainer.snapshots.resume(), 5U);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(trainer.is_of(5));
  for (const std::string part : {"snapshot-6-rank-0-of-1.safetensors is of another step",
                                 "snapshot-7-rank-0-of-1.safetensors is no whole snapshot",
                                 "snapshot-8-rank-0-of-1.safetensors is no whole snapshot",
                                 "snapshot-9-rank-0-of-1.safetensors is no whole snapshot"}) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
}

TEST_F(FileSnapshotsTest, StepsWriteWhenTheIntervalHasPassed) {
  SnapshotOptions often = options();
  often.file_interval = std::chrono::milliseconds(0);
  {
    FileTrainer trainer(often);
    EXPECT_TRUE(trainer.snapshots.step_done(1));
    EXPECT_TRUE(trainer.snapshots.step_done(2));
    EXPECT_EQ(trainer.snapshots.resume(), 2U);
  }
  SnapshotOptions never = options();
  never.file_interval = std::chrono::hours(1000);
  FileTrainer other(never);
  EXPECT_EQ(other.snapshots.resume(), 2U);
  EXPECT_TRUE(other.snapshots.step_done(3));
  EXPECT_EQ(other.snapshots.resume(), 2U);
}

TEST_F(FileSnapshotsTest, WhatCannotBeWrittenIsSaidAndThePreviousStays) {
  FileTrainer trainer(options());
  trainer.fill(1);
  trainer.snapshots.save(1);
  std::filesystem::create_directory(file("snapshot-2-rank-0-of-1.safetensors"));
  std::ofstream(file("snapshot-2-rank-0-of-1.safetensors/in the way"));
  EXPECT_THROW(trainer.snapshots.save(2), SnapshotError);
  EXPECT_EQ(names_in(folder()), (std::set<std::string>{"snapshot-1-rank-0-of-1.safetensors",
                                                       "snapshot-2-rank-0-of-1.safetensors"}));
  std::filesystem::remove_all(file("snapshot-2-rank-0-of-1.safetensors"));
  trainer.fill(9);
  EXPECT_EQ(trainer.snapshots.resume(), 1U);
  EXPECT_TRUE(trainer.is_of(1));
}

TEST_F(FileSnapshotsTest, AFolderThatCannotBeWrittenIsSaidBeforeTraining) {
  std::filesystem::create_directories(folder());
  std::ofstream(file("file")) << "no folder";
  for (const std::string& bad : {file("file"), file("file/below"), std::string("/proc/nothing")}) {
    SnapshotOptions elsewhere = options();
    elsewhere.folder = bad;
    FileTrainer trainer(elsewhere);
    EXPECT_THROW(trainer.snapshots.resume(), SnapshotError) << bad;
    EXPECT_THROW(trainer.snapshots.save(1), SnapshotError) << bad;
  }
}

TEST_F(FileSnapshotsTest, AFileThatCannotBeReadIsNotPassedOver) {
  FileTrainer trainer(options());
  trainer.snapshots.save(1);
  const std::string loop = "snapshot-2-rank-0-of-1.safetensors";
  std::filesystem::create_symlink(loop, file(loop));
  EXPECT_THROW(trainer.snapshots.resume(), SnapshotError);
  EXPECT_TRUE(names_in(folder()).contains("snapshot-1-rank-0-of-1.safetensors"));
}

}  // namespace
}  // namespace outlast
