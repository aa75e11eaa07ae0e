#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/testing/command_runner.h"
#include "sim/sim_process.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

using testing::CommandRunner;
using testing::Ran;

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A machine with credentials, and a bucket that nobody serves.
class Offline : public CommandRunner {
 public:
  Offline() {
    machine().environment().variables = {{"AWS_ACCESS_KEY_ID", "id"},
                                         {"AWS_SECRET_ACCESS_KEY", "secret"},
                                         {"AWS_REGION", "us-east-1"},
                                         {"AWS_ENDPOINT_URL", "http://store:9000"}};
    machine().processes().install("trainer", [this](sim::SimProcessSelf&) {
      has_started = true;
      return 0;
    });
  }
  const std::vector<std::string> command = {
      "run", "--root", "s3://bucket/training", "--job", "demo", "--", "trainer"};
  bool has_started = false;
};

TEST(RunCommand, ARootThatDoesNotAnswerIsToldOfAndThenRefused) {
  Offline offline;
  const Ran ran = offline.run(offline.command);
  EXPECT_EQ(ran.exit_code, 4) << ran.err;
  EXPECT_TRUE(says(ran.err, R"("event":"root-away")")) << ran.err;
  EXPECT_TRUE(says(ran.err, "the root does not answer; trying for 2m: ")) << ran.err;
  EXPECT_TRUE(says(ran.err, "outlast: error: the root does not answer, for ")) << ran.err;
  EXPECT_TRUE(says(ran.err, " now; nothing was started: ")) << ran.err;
  EXPECT_FALSE(offline.has_started);
}

TEST(RunCommand, CtrlCEndsTheWaitForARoot) {
  Offline offline;
  bool has_returned = false;
  offline.run_body([&](sys::World& world) {
    const auto person = world.threads.spawn("person", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(std::chrono::seconds(30), {});
      offline.machine().signal(SIGINT);
    });
    (void)run(offline.command, world);
    has_returned = true;
  });
  EXPECT_FALSE(has_returned);  // the signal has killed it: there is nothing to save
  EXPECT_TRUE(says(offline.machine().console().err_text, "root-away"));
}

TEST(RunCommand, ARootThatIsAFileIsRefusedAtOnce) {
  CommandRunner runner;
  runner.add_file("/data/file", "");
  const Ran ran = runner.run({"run", "--root", "/data/file", "--", "trainer"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err,
            "outlast: error: the root, /data/file, is a file: give a folder, or a bucket such as "
            "s3://bucket/prefix\n");
}

TEST(RunCommand, AProgramThatDoesNotExistIsNamedAndNotTriedAgain) {
  const Ran ran = testing::run_command({"run", "--root", "/root", "--", "no-such-program"});
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_TRUE(says(ran.err, "there is no program 'no-such-program' in PATH")) << ran.err;
  EXPECT_TRUE(says(ran.err, "once that is put right, give the same command again")) << ran.err;
  EXPECT_FALSE(says(ran.err, R"("event":"retry")")) << ran.err;
}

}  // namespace
}  // namespace outlast::cli
