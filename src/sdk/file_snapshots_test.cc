#include "sdk/file_snapshots.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/snapshots.h"
#include "sdk/testing/fake_agent.h"

namespace outlast {
namespace {

// A trainer without outlast around it.
struct FileTrainer {
  std::vector<float> weights = std::vector<float>(1'000'000);
  std::uint64_t seen = 0;
  std::string blob;
  Snapshots snapshots;

  explicit FileTrainer(const SnapshotOptions& options) : snapshots(options) {
    snapshots.add("weights", weights.data(), weights.size());
    snapshots.add_value("seen", &seen);
    snapshots.add_blob(
        "blob", 10, [this] { return blob; }, [this](std::string_view bytes) { blob = bytes; });
  }
  void fill(std::uint64_t step) {
    weights.assign(weights.size(), static_cast<float>(step));
    seen = step;
    blob = std::to_string(step);
  }
  bool is_of(std::uint64_t step) const {
    return weights == std::vector<float>(weights.size(), static_cast<float>(step)) &&
           seen == step && blob == std::to_string(step);
  }
};

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".lock")) names.insert(name);
  }
  return names;
}

class FileSnapshotsTest : public ::testing::Test {
 protected:
  SnapshotOptions options(std::uint32_t rank = 0, std::uint32_t ranks = 1) const {
    return {.rank = rank, .ranks = ranks, .folder = folder()};
  }
  std::string folder() const { return temp_.path() + "/a/b"; }
  std::string file(const std::string& name) const { return folder() + "/" + name; }

 private:
  sdk::TestFolder temp_;
};

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

TEST_F(FileSnapshotsTest, ResumeFromTheNewestStepThatAllRanksHave) {
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

TEST_F(FileSnapshotsTest, OnlyOneSavesARankInAFolder) {
  FileTrainer trainer(options());
  trainer.fill(1);
  trainer.snapshots.save(1);
  FileTrainer twin(options());
  EXPECT_THROW(twin.snapshots.save(2), SnapshotError);
  EXPECT_THROW(twin.snapshots.resume(), SnapshotError);
  EXPECT_EQ(names_in(folder()), (std::set<std::string>{"snapshot-1-rank-0-of-1.safetensors"}));
}

TEST_F(FileSnapshotsTest, WhatARankWasKilledOverIsRemoved) {
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

TEST_F(FileSnapshotsTest, WhatAllRanksHaveStaysUntilTheyHaveALaterOne) {
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

TEST_F(FileSnapshotsTest, AStepOfAnEarlierAttemptIsNeverHalfOfANewOne) {
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

TEST_F(FileSnapshotsTest, WhoStartsAnewLeavesNothingOfTheEarlierAttempt) {
  {
    FileTrainer trainer(options(0, 2));
    trainer.snapshots.save(10);
    trainer.snapshots.save(20);
  }
  FileTrainer other(options(1, 2));
  other.snapshots.save(30);
  FileTrainer trainer(options(0, 2));
  EXPECT_EQ(trainer.snapshots.resume(), std::nullopt);
  EXPECT_EQ(names_in(folder()), (std::set<std::string>{"snapshot-30-rank-1-of-2.safetensors"}));
}

TEST_F(FileSnapshotsTest, AResumeThatIsRefusedRemovesNothing) {
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

TEST_F(FileSnapshotsTest, SeveralRanksAreToldToSetEverySteps) {
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

}  // namespace
}  // namespace outlast
