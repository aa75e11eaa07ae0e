#include "machine/power.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::machine {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// A machine with these tools, each ending with a code; what was called with which arguments.
struct Tools {
  std::map<std::string, int> ends_with;
  std::vector<std::string> called = {};
  Duration took = {};
  Result<void> outcome = {};
};

void play_power_off(Tools& tools, Duration after, const std::string& uid = "0") {
  sim::Simulation simulation({.seed = 5});
  sim::Machine& machine = simulation.add_machine("m1");
  for (const auto& [name, code] : tools.ends_with) {
    machine.processes().install(name, [&tools, code = code](sim::SimProcessSelf& self) {
      std::string line;
      for (const std::string& word : self.spec().argv) line += (line.empty() ? "" : " ") + word;
      tools.called.push_back(line);
      if (code != 0) self.err("no init here\n");
      return code;
    });
  }
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          ASSERT_TRUE(sys::make_dirs(world.files, "/proc/self"));
          const std::string status = "Name:\tx\nUid:\t" + uid + "\t" + uid + "\t" + uid + "\n";
          ASSERT_TRUE(
              sys::write_file_atomically(world.files, "/proc/self/status", as_bytes(status)));
          const MonoTime start = world.clock.mono_now();
          tools.outcome = power_off(world, after, {});
          tools.took = world.clock.mono_now() - start;
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

TEST(PowerOff, AsksSystemdFirst) {
  Tools tools = {.ends_with = {{"systemctl", 0}, {"shutdown", 0}, {"poweroff", 0}}};
  play_power_off(tools, {});
  EXPECT_TRUE(tools.outcome);
  EXPECT_EQ(tools.called, (std::vector<std::string>{"systemctl poweroff"}));
}

TEST(PowerOff, TakesTheNextWhereOneIsMissingOrDoesNotWork) {
  Tools tools = {.ends_with = {{"systemctl", 1}, {"/sbin/poweroff", 0}}};
  play_power_off(tools, {});
  EXPECT_TRUE(tools.outcome) << tools.outcome.error().to_string();
  EXPECT_EQ(tools.called, (std::vector<std::string>{"systemctl poweroff", "/sbin/poweroff"}));
}

TEST(PowerOff, LaterIsInWholeMinutesAndNotSooner) {
  Tools tools = {.ends_with = {{"systemctl", 0}, {"shutdown", 0}}};
  play_power_off(tools, minutes(30) + seconds(1));
  EXPECT_TRUE(tools.outcome);
  EXPECT_EQ(tools.called, (std::vector<std::string>{"shutdown -h +31"}));
  EXPECT_LT(tools.took, seconds(5));
}

TEST(PowerOff, LaterHasASecondWay) {
  Tools tools = {.ends_with = {{"systemctl", 0}, {"shutdown", 1}, {"systemd-run", 0}}};
  play_power_off(tools, minutes(30));
  EXPECT_TRUE(tools.outcome);
  EXPECT_EQ(tools.called, (std::vector<std::string>{
                              "shutdown -h +30",
                              "systemd-run --on-active=30min systemctl poweroff",
                          }));
}

TEST(PowerOff, WaitsItselfWhereNothingCanDoItLater) {
  Tools tools = {.ends_with = {{"poweroff", 0}}};
  play_power_off(tools, hours(1));
  EXPECT_TRUE(tools.outcome);
  EXPECT_EQ(tools.called, (std::vector<std::string>{"poweroff"}));
  EXPECT_GE(tools.took, hours(1));
}

TEST(PowerOff, InAContainerSaysThatItStillRuns) {
  Tools tools = {.ends_with = {{"systemctl", 1}}};
  play_power_off(tools, {});
  ASSERT_FALSE(tools.outcome);
  EXPECT_EQ(tools.outcome.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(tools.outcome.error().to_string(),
            "this machine could not be powered off and still runs, as in a container without an "
            "init of its own: end it from outside ('systemctl poweroff' exited with 1: no init "
            "here; 'shutdown' is not installed; 'poweroff' is not installed)");
}

TEST(PowerOff, AnotherUserThanRootIsToldSo) {
  Tools tools = {.ends_with = {{"systemctl", 1}}};
  play_power_off(tools, {}, "1000");
  ASSERT_FALSE(tools.outcome);
  EXPECT_EQ(tools.outcome.error().code(), ErrorCode::kPermissionDenied);
  tools.ends_with["systemctl"] = 0;
  play_power_off(tools, {}, "1000");
  EXPECT_TRUE(tools.outcome) << "a desktop's user may";
}

}  // namespace
}  // namespace outlast::machine
