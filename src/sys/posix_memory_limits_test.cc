#include "sys/posix_memory_limits.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace outlast::sys {
namespace {

class MemoryLimitsTest : public ::testing::Test {
 protected:
  MemoryLimitsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "outlast-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~MemoryLimitsTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = std::filesystem::path(folder_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<std::uint64_t> available() {
    return available_memory({.proc = folder_ + "/proc", .control_groups = folder_ + "/groups"});
  }

  std::string folder_;
};

TEST_F(MemoryLimitsTest, AMachineThatTellsNothingIsNotBelieved) {
  EXPECT_EQ(available(), std::nullopt);
  write("proc/meminfo", "MemTotal:  1000 kB\nMemFree:  10 kB\n");
  write("proc/self/cgroup", "nonsense\n0::/none\n3:memory:/none\n:\n");
  EXPECT_EQ(available(), std::nullopt);
}

TEST_F(MemoryLimitsTest, WithoutLimitsItIsWhatTheMachineHas) {
  write("proc/meminfo", "MemTotal:  1000 kB\nMemAvailable:     500 kB\n");
  EXPECT_EQ(available(), 500U * 1024);
  write("proc/self/cgroup", "0::/job\n");
  write("groups/job/memory.max", "max\n");
  write("groups/job/memory.current", "1000\n");
  EXPECT_EQ(available(), 500U * 1024);
}

TEST_F(MemoryLimitsTest, EveryGroupAboveLimits) {
  write("proc/meminfo", "MemAvailable:     500 kB\n");
  write("proc/self/cgroup", "0::/slice/job\n");
  write("groups/slice/job/memory.max", "400000\n");
  write("groups/slice/job/memory.current", "100000\n");
  EXPECT_EQ(available(), 300'000U);
  write("groups/slice/memory.max", "1000000\n");
  write("groups/slice/memory.current", "800000\n");
  EXPECT_EQ(available(), 200'000U);
  // Files that were not read lately make room.
  write("groups/slice/memory.stat", "anon 5\ninactive_file 50000\nactive_file 7\n");
  EXPECT_EQ(available(), 250'000U);
  write("groups/memory.max", "500\n");
  write("groups/memory.current", "700\n");
  EXPECT_EQ(available(), 0U);
}

TEST_F(MemoryLimitsTest, TheOlderControlGroupsLimitToo) {
  write("proc/meminfo", "MemAvailable:     500 kB\n");
  write("proc/self/cgroup", "9:cpu,cpuacct:/job\n4:hugetlb,memory:/job\n1:name=systemd:/x\n");
  write("groups/memory/job/memory.limit_in_bytes", "300000\n");
  write("groups/memory/job/memory.usage_in_bytes", "100000\n");
  write("groups/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 20000\n");
  write("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("groups/memory/memory.usage_in_bytes", "100000\n");
  EXPECT_EQ(available(), 220'000U);
}

TEST_F(MemoryLimitsTest, AContainerKnowsItsGroupByAnotherName) {
  write("proc/meminfo", "MemAvailable:     500 kB\n");
  write("proc/self/cgroup", "0::/kubepods/pod1/container2\n");
  write("groups/memory.max", "200000\n");
  write("groups/memory.current", "50000\n");
  EXPECT_EQ(available(), 150'000U);
}

TEST_F(MemoryLimitsTest, ThisMachineTells) {
  const auto now = available_memory({});
  ASSERT_TRUE(now);
  EXPECT_GT(*now, 1U << 20U);
}

}  // namespace
}  // namespace outlast::sys
