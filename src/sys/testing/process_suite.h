#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/process.h"
#include "sys/testing/world_maker.h"

// What every ProcessLauncher must do.
namespace outlast::sys::testing {

// The commands that the suite starts; each implementation brings its own.
struct ProcessPrograms {
  std::vector<std::string> exits_with_3;
  std::vector<std::string> runs_for_an_hour;           // and dies of SIGTERM
  std::vector<std::string> takes_a_moment_after_term;  // handles SIGTERM: soon exits with 7
  std::vector<std::string> ignores_term;               // for an hour
  std::vector<std::string> prints_100_kib;             // of 'x' to standard output
};

struct ProcessWorld {
  WorldMaker maker;
  ProcessPrograms programs;
  friend std::ostream& operator<<(std::ostream& out, const ProcessWorld& world) {
    return out << world.maker.name;
  }
};

class ProcessSuite : public ::testing::TestWithParam<ProcessWorld> {
 protected:
  static constexpr Duration kShort = std::chrono::milliseconds(20);

  static std::unique_ptr<Process> start(World& world, std::vector<std::string> argv,
                                        Output out = {.target = Output::Discard{}}) {
    auto process = world.processes.spawn(
        {.argv = std::move(argv), .out = std::move(out), .err = {.target = Output::Discard{}}});
    EXPECT_TRUE(process) << process.error().to_string();
    return process ? *std::move(process) : nullptr;
  }
  // Started, and has printed something: a program that handles signals does so once it is ready.
  // What it prints goes to `text`, which must outlive the process.
  static std::unique_ptr<Process> start_and_hear(World& world, std::vector<std::string> argv,
                                                 std::string& text) {
    auto process =
        start(world, std::move(argv),
              {.target = Output::Sink([&text](std::string_view piece) { text += piece; })});
    while (process && text.empty()) {
      (void)process->wait({.deadline = world.clock.mono_now() + kShort});
    }
    return process;
  }
  static std::string end_of(const Result<ExitStatus>& status) {
    return status ? to_string(*status) : status.error().to_string();
  }
};

TEST_P(ProcessSuite, TheExitCodeComesBackEveryTime) {
  GetParam().maker.run([](World& world, const std::string&) {
    const auto process = start(world, GetParam().programs.exits_with_3);
    ASSERT_TRUE(process);
    EXPECT_GT(process->pid(), 0);
    EXPECT_EQ(end_of(process->wait({})), "exited with 3");
    EXPECT_EQ(end_of(process->wait({})), "exited with 3");
    EXPECT_TRUE(process->signal(SIGTERM));  // too late, and no error
  });
}

TEST_P(ProcessSuite, AMissingProgramIsNotFound) {
  GetParam().maker.run([](World& world, const std::string&) {
    const auto process = world.processes.spawn({.argv = {"no-such-program"}});
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().code(), ErrorCode::kNotFound);
    EXPECT_EQ(process.error().to_string(), "run no-such-program: No such file or directory");
    EXPECT_EQ(world.processes.spawn({}).error().code(), ErrorCode::kInvalidArgument);
  });
}

TEST_P(ProcessSuite, WaitingEndsWithItsContextAndCanGoOn) {
  GetParam().maker.run([](World& world, const std::string&) {
    const auto process = start(world, GetParam().programs.runs_for_an_hour);
    ASSERT_TRUE(process);
    const auto late = process->wait({.deadline = world.clock.mono_now() + kShort});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), ErrorCode::kDeadlineExceeded);
    std::stop_source stop;
    const auto stopper = world.threads.spawn("stopper", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(kShort, {});
      stop.request_stop();
    });
    const auto stopped = process->wait({.deadline = kNever, .stop = stop.get_token()});
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code(), ErrorCode::kCancelled);
    ASSERT_TRUE(process->signal(SIGTERM));
    EXPECT_EQ(end_of(process->wait({})), "killed by SIGTERM");
  });
}

TEST_P(ProcessSuite, AllOutputReachesTheSinkBeforeWaitReturns) {
  GetParam().maker.run([](World& world, const std::string&) {
    std::string text;
    const auto process =
        start(world, GetParam().programs.prints_100_kib,
              {.target = Output::Sink([&](std::string_view piece) { text += piece; })});
    ASSERT_TRUE(process);
    EXPECT_EQ(end_of(process->wait({})), "exited with 0");
    EXPECT_EQ(text, std::string(100 * 1024, 'x'));
  });
}

TEST_P(ProcessSuite, StoppingLetsAWillingProcessFinish) {
  GetParam().maker.run([](World& world, const std::string&) {
    std::string text;
    const auto process = start_and_hear(world, GetParam().programs.takes_a_moment_after_term, text);
    ASSERT_TRUE(process);
    const StopPolicy policy{.grace = std::chrono::hours(1)};
    EXPECT_EQ(end_of(stop_process(*process, world.clock, policy, {})), "exited with 7");
  });
}

TEST_P(ProcessSuite, StoppingKillsWhatIgnoresIt) {
  GetParam().maker.run([](World& world, const std::string&) {
    std::string text;
    const auto process = start_and_hear(world, GetParam().programs.ignores_term, text);
    ASSERT_TRUE(process);
    EXPECT_EQ(end_of(stop_process(*process, world.clock, {.grace = kShort}, {})),
              "killed by SIGKILL");
  });
}

TEST_P(ProcessSuite, AnEndedContextCutsTheGraceShort) {
  GetParam().maker.run([](World& world, const std::string&) {
    std::string text;
    const auto process = start_and_hear(world, GetParam().programs.ignores_term, text);
    ASSERT_TRUE(process);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(end_of(stop_process(*process, world.clock, {.grace = std::chrono::hours(1)},
                                  {.deadline = kNever, .stop = stop.get_token()})),
              "killed by SIGKILL");
  });
}

}  // namespace outlast::sys::testing
