#include "cli/doctor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/testing/command_runner.h"
#include "sim/sim_process.h"

namespace outlast::cli {
namespace {

using testing::CommandRunner;
using testing::Ran;

constexpr const char* kMeminfo =
    "MemTotal:       8388608 kB\nMemFree: 1 kB\nMemAvailable:  4194304 kB\n";

Finding examined(CommandRunner& runner, const std::function<Finding(sys::World&)>& check) {
  Finding finding;
  runner.run_body([&](sys::World& world) { finding = check(world); });
  return finding;
}

TEST(Doctor, NamesTheSystem) {
  CommandRunner runner;
  runner.add_file("/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
  runner.add_file("/proc/version", "Linux version 6.1.0-18-amd64 (x@y) #1 SMP\n");
  const Finding finding = examined(runner, check_system);
  EXPECT_EQ(finding.health, Health::kOk);
  EXPECT_EQ(finding.finding, "Debian GNU/Linux 12, Linux 6.1.0-18-amd64");
}

TEST(Doctor, AStrangeSystemIsAWarning) {
  CommandRunner runner;
  EXPECT_EQ(examined(runner, check_system).health, Health::kWarning);
}

TEST(Doctor, ReadsMemory) {
  CommandRunner runner;
  runner.add_file("/proc/meminfo", kMeminfo);
  EXPECT_EQ(examined(runner, check_memory).finding, "4.0 GiB free of 8.0 GiB");
}

TEST(Doctor, FindsTheLowestLimitOfNestedControlGroups) {
  CommandRunner runner;
  runner.add_file("/proc/meminfo", kMeminfo);
  runner.add_file("/proc/self/cgroup", "0::/a/b\n");
  runner.add_file("/sys/fs/cgroup/a/b/memory.max", "max\n");
  runner.add_file("/sys/fs/cgroup/a/memory.max", "2147483648\n");
  EXPECT_EQ(examined(runner, check_memory).finding,
            "4.0 GiB free of 8.0 GiB; a control group limits this process to 2.0 GiB");
}

TEST(Doctor, KnowsControlGroupsOfVersionOne) {
  CommandRunner runner;
  runner.add_file("/proc/meminfo", kMeminfo);
  runner.add_file("/proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/1\n");
  runner.add_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "33554432\n");
  const Finding finding = examined(runner, check_memory);
  EXPECT_EQ(finding.health, Health::kFailure);
  EXPECT_NE(finding.finding.find("32.0 MiB"), std::string::npos) << finding.finding;
}

TEST(Doctor, ALimitAboveTheMemoryIsNone) {
  CommandRunner runner;
  runner.add_file("/proc/meminfo", kMeminfo);
  runner.add_file("/proc/self/cgroup", "4:memory:/\n");
  runner.add_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(examined(runner, check_memory).finding, "4.0 GiB free of 8.0 GiB");
}

TEST(Doctor, LittleDiskIsAWarningAndNoneAFailure) {
  CommandRunner plenty;
  EXPECT_EQ(examined(plenty, check_disk).health, Health::kOk);
  CommandRunner little;
  little.machine().disk().set_capacity(5ULL << 30U);
  EXPECT_EQ(examined(little, check_disk).health, Health::kWarning);
  CommandRunner full;
  full.machine().disk().set_capacity(1U << 20U);
  EXPECT_EQ(examined(full, check_disk).health, Health::kFailure);
}

TEST(Doctor, ReadsHugePages) {
  CommandRunner runner;
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
  runner.add_file(folder + "enabled", "always [madvise] never\n");
  runner.add_file(folder + "shmem_enabled", "always within_size [advise] never deny force\n");
  EXPECT_EQ(examined(runner, check_huge_pages).finding,
            "madvise for memory, advise for shared memory");
  CommandRunner off;
  off.add_file(folder + "enabled", "always madvise [never]\n");
  EXPECT_EQ(examined(off, check_huge_pages).health, Health::kNote);
}

TEST(Doctor, JudgesTheClock) {
  CommandRunner good;
  EXPECT_EQ(examined(good, check_clock).health, Health::kOk);
  CommandRunner undisciplined;
  undisciplined.machine().environment().clock_error.reset();
  EXPECT_EQ(examined(undisciplined, check_clock).health, Health::kWarning);
  CommandRunner vague;
  vague.machine().environment().clock_error = 16.0;
  EXPECT_EQ(examined(vague, check_clock).health, Health::kWarning);
  CommandRunner never_set;
  const Finding finding = examined(never_set, [&](sys::World& world) {
    never_set.machine().clock().jump(WallTime() - world.clock.wall_now());
    return check_clock(world);
  });
  EXPECT_EQ(finding.health, Health::kWarning);
  EXPECT_NE(finding.finding.find("1970"), std::string::npos);
}

TEST(Doctor, AsksCriu) {
  const auto check = [](sys::World& world) { return check_criu(world, {}); };
  CommandRunner absent;
  EXPECT_NE(examined(absent, check).finding.find("not in PATH"), std::string::npos);

  CommandRunner usable;
  usable.machine().processes().install("criu", [](sim::SimProcessSelf&) { return 0; });
  EXPECT_EQ(examined(usable, check).health, Health::kOk);

  CommandRunner refused;
  refused.machine().processes().install("criu", [](sim::SimProcessSelf& self) {
    self.err("Warn: something\nError: Can't mount\x1b[0m\n");
    return 1;
  });
  const Finding why = examined(refused, check);
  EXPECT_EQ(why.health, Health::kNote);
  EXPECT_NE(why.finding.find("Error: Can't mount\\x1b[0m"), std::string::npos) << why.finding;

  CommandRunner hangs;
  sim::Machine& machine = hangs.machine();
  sim::ProcessScript script;
  script.runs_for = std::chrono::hours(1);
  machine.processes().install("criu", sim::make_program(machine.clock(), script));
  EXPECT_NE(examined(hangs, check).finding.find("did not answer"), std::string::npos);
}

TEST(Doctor, FindsCredentialsByNameAndNeverShowsAValue) {
  const std::string secret = "S3CR3T-VALUE";
  for (const std::string form : {"text", "json"}) {
    CommandRunner runner;
    auto& variables = runner.machine().environment().variables;
    for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_KEY",
                             "AZURE_STORAGE_CONNECTION_STRING", "GOOGLE_APPLICATION_CREDENTIALS"}) {
      variables[name] = secret;
    }
    variables["HOME"] = "/home/u";
    runner.add_file("/home/u/.aws/credentials", secret);
    const Ran ran = form == "json" ? runner.run({"doctor", "--json"}) : runner.run({"doctor"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_EQ((ran.out + ran.err).find(secret), std::string::npos);
    for (const char* name : {"AWS_ACCESS_KEY_ID", "AZURE_STORAGE_CONNECTION_STRING",
                             "GOOGLE_APPLICATION_CREDENTIALS", "~/.aws/credentials"}) {
      EXPECT_NE(ran.out.find(name), std::string::npos) << name << "\n" << ran.out;
    }
  }
}

TEST(Doctor, HalfAKeyIsAWarning) {
  CommandRunner runner;
  runner.machine().environment().variables["AWS_ACCESS_KEY_ID"] = "x";
  std::vector<Finding> findings;
  runner.run_body([&](sys::World& world) { findings = check_credentials(world); });
  EXPECT_EQ(findings[0].health, Health::kWarning);
  EXPECT_NE(findings[0].advice, "");
}

TEST(Doctor, FailsOnlyWhenOutlastCannotBeUsed) {
  CommandRunner runner;
  runner.machine().disk().set_capacity(1U << 20U);
  const Ran ran = runner.run({"doctor"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.out.find("x disk"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("cannot be used here until 1 thing is put right."), std::string::npos);
}

TEST(Doctor, MarksAreAsciiUnlessTheLocaleIsUtf8) {
  CommandRunner plain;
  EXPECT_EQ(plain.run({"doctor"}).out.find("✓"), std::string::npos);
  CommandRunner modern;
  modern.machine().environment().variables["LANG"] = "C.UTF-8";
  EXPECT_NE(modern.run({"doctor"}).out.find("✓ processors"), std::string::npos);
}

TEST(Doctor, AsJsonEveryCheckHasAStatus) {
  const auto json = parse_json(testing::run_command({"doctor", "--json"}).out);
  ASSERT_TRUE(json);
  ASSERT_GT((*json)["checks"].size(), 10U);
  for (const Json& check : (*json)["checks"]) {
    EXPECT_FALSE(check["name"].get<std::string>().empty());
    EXPECT_FALSE(check["finding"].get<std::string>().empty());
    EXPECT_TRUE(check.contains("status"));
  }
  EXPECT_EQ((*json)["usable"], true);
}

}  // namespace
}  // namespace outlast::cli
