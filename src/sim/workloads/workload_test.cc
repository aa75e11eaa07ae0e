#include "sim/workloads/workload.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace outlast::sim {
namespace {

// Sanitizers make each history slow, and look at every one as closely as at a thousand.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 50;
#elif defined(NDEBUG)
constexpr std::uint64_t kSeeds = 500;
#else
constexpr std::uint64_t kSeeds = 200;
#endif

class WorkloadTest : public ::testing::TestWithParam<Workload> {};

TEST_P(WorkloadTest, HoldsOverManySeeds) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = GetParam().run({.seed = seed});
    EXPECT_TRUE(outcome.ok) << "outlast sim replay " << seed << ": " << outcome.failure;
  }
}

// Each seed runs twice: the same trace, and the generator in the same state afterwards.
TEST_P(WorkloadTest, OneSeedIsOneHistory) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const WorkloadOptions options{.seed = seed};
    const Outcome first = GetParam().run(options);
    const Outcome second = GetParam().run(options);
    EXPECT_EQ(first.trace_hash, second.trace_hash);
    EXPECT_EQ(first.next_draw, second.next_draw);
  }
}

// A checker that has never caught a bug is not trusted.
TEST_P(WorkloadTest, FindsEverySeededBugWithinAThousandSeeds) {
  for (const SeededBug& bug : GetParam().bugs) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 1000 && !found; ++seed) {
      found = !GetParam().run({.seed = seed, .bug = std::string(bug.name)}).ok;
    }
    EXPECT_TRUE(found) << bug.name;
  }
}

// tests/golden/trace_hashes.txt holds "workload seed hash": the same in every process and every
// build type. It changes when a workload or the kernel does; then look whether it should have.
TEST_P(WorkloadTest, TraceHashesAreThoseOfEveryOtherBuild) {
  std::ifstream golden(OUTLAST_SOURCE_DIR "/tests/golden/trace_hashes.txt");
  ASSERT_TRUE(golden);
  std::string line;
  int compared = 0;
  while (std::getline(golden, line)) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t seed = 0;
    std::string hash;
    if (line.starts_with('#') || !(words >> name >> seed >> hash) || name != GetParam().name) {
      continue;
    }
    const Outcome outcome = GetParam().run({.seed = seed});
    EXPECT_EQ(fmt::format("{:016x}", outcome.trace_hash), hash) << "seed " << seed;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

TEST_P(WorkloadTest, SeedsThatOnceFoundSomethingHold) {
  std::ifstream seeds(OUTLAST_SOURCE_DIR "/tests/seeds/" + std::string(GetParam().name) + ".txt");
  ASSERT_TRUE(seeds);
  std::string line;
  while (std::getline(seeds, line)) {
    if (line.starts_with('#') || line.empty()) continue;
    const std::uint64_t seed = std::stoull(line);
    const Outcome outcome = GetParam().run({.seed = seed});
    EXPECT_TRUE(outcome.ok) << line << ": " << outcome.failure;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadTest, ::testing::ValuesIn(workloads()),
                         [](const auto& workload) {
                           std::string name(workload.param.name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(FindWorkload, SuggestsTheNearestName) {
  EXPECT_TRUE(find_workload("wal-counter"));
  EXPECT_EQ(find_workload("wal-conter").error().to_string(),
            "there is no workload 'wal-conter'; did you mean 'wal-counter'?");
}

}  // namespace
}  // namespace outlast::sim
