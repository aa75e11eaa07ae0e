#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sdk/arena.h"
#include "sdk/snapshot_header.h"
#include "sdk/snapshots.h"
#include "sdk/testing/fake_agent.h"

namespace outlast {
namespace {

constexpr std::size_t kWords = 400'000;

std::uint64_t word_of(std::uint64_t step, std::size_t index) {
  return step * 0x9E3779B97F4A7C15U + index;
}

// The trainer that is killed: the test starts this program again for it.
TEST(SnapshotsKill, DISABLED_TrainerThatIsKilled) {
  std::vector<std::uint64_t> large(kWords);
  std::vector<std::uint32_t> small(100);
  std::string blob;
  Snapshots snapshots;
  snapshots.add("large", large.data(), large.size());
  snapshots.add("small", small.data(), small.size());
  snapshots.add_blob(
      "blob", 1000, [&] { return blob; }, [&](std::string_view bytes) { blob = bytes; });
  for (std::uint64_t step = snapshots.resume().value_or(0) + 1; step < 1'000'000; ++step) {
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = word_of(step, i);
    small.assign(small.size(), static_cast<std::uint32_t>(step));
    blob = std::string(step % 1000, static_cast<char>('a' + step % 26));
    if (step % 2 == 0) {
      snapshots.save(step);
    } else {
      snapshots.save_async(step);
      snapshots.before_update();
    }
  }
}

pid_t start_trainer() {
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=SnapshotsKill.DISABLED_TrainerThatIsKilled";
  std::string also = "--gtest_also_run_disabled_tests";
  std::string brief = "--gtest_brief=1";
  std::array<char*, 5> words = {program.data(), filter.data(), also.data(), brief.data(), nullptr};
  pid_t child = -1;
  if (::posix_spawn(&child, program.c_str(), nullptr, nullptr, words.data(), environ) != 0) {
    return -1;
  }
  return child;
}

// Every byte of the newest snapshot belongs to the step that it says.
void check_newest(sdk::FakeAgent& agent) {
  const auto newest = agent.newest();
  ASSERT_TRUE(newest);
  const auto bytes = agent.bytes_of(*newest);
  const auto header = sdk::read_snapshot_header(bytes);
  ASSERT_TRUE(header);
  const std::uint64_t step = newest->step;
  ASSERT_EQ(header->step, step);
  std::vector<std::uint64_t> large(kWords);
  std::memcpy(large.data(), bytes.data() + header->tensors.at("large").begin, kWords * 8);
  for (std::size_t i = 0; i < kWords; ++i) ASSERT_EQ(large[i], word_of(step, i)) << i;
  std::vector<std::uint32_t> small(100);
  std::memcpy(small.data(), bytes.data() + header->tensors.at("small").begin, small.size() * 4);
  ASSERT_EQ(small, std::vector<std::uint32_t>(100, static_cast<std::uint32_t>(step)));
  const sdk::FoundTensor& blob = header->tensors.at("blob");
  ASSERT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()) + blob.begin, blob.bytes),
            std::string(step % 1000, static_cast<char>('a' + step % 26)));
}

TEST(SnapshotsKill, ATrainerKilledAtAnyMomentLeavesAWholeSnapshot) {
  sdk::FakeAgent agent;
  std::minstd_rand random(7);
  constexpr int kKills = 50;
  std::uint64_t last_step = 0;
  std::size_t saved = 0;
  for (int kill = 1; kill <= kKills; ++kill) {
    const pid_t trainer = start_trainer();
    ASSERT_GT(trainer, 0);
    // Two or three saves on, at some moment within the next.
    saved = agent.wait_for("saved", saved + 2 + random() % 2).size();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
    ASSERT_EQ(::kill(trainer, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(trainer, &status, 0), trainer);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    agent.wait_for_ends(static_cast<std::size_t>(kill));
    saved = agent.wait_for("saved", saved).size();
    check_newest(agent);
    if (HasFatalFailure()) return;
    // The next one went on from where the last one was.
    ASSERT_GT(agent.newest()->step, last_step);
    last_step = agent.newest()->step;
  }
}

}  // namespace
}  // namespace outlast
