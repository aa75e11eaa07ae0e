// What only real processes can show.
#include "sys/posix_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sys/posix_clock.h"
#include "sys/posix_process_family.h"
#include "sys/process.h"

namespace outlast::sys {
namespace {

class PosixProcessTest : public ::testing::Test {
 protected:
  // Runs a shell command and returns what it printed.
  std::string shell(const std::string& script, ProcessSpec spec = {}) {
    std::string text;
    spec.argv = {"sh", "-c", script};
    spec.out = {.target = Output::Sink([&](std::string_view piece) { text += piece; })};
    const auto process = launcher_->spawn(std::move(spec));
    EXPECT_TRUE(process) << process.error().to_string();
    if (process) {
      EXPECT_TRUE((*process)->wait({}));
    }
    return text;
  }

  std::unique_ptr<Process> start(const std::string& script, std::string* text) {
    auto process = launcher_->spawn(
        {.argv = {"sh", "-c", script},
         .out = {.target = Output::Sink([text](std::string_view piece) { *text += piece; })},
         .err = {}});
    EXPECT_TRUE(process);
    while (process && text->empty()) {
      (void)(*process)->wait(
          {.deadline = clock_->mono_now() + std::chrono::milliseconds(20), .stop = {}});
    }
    return process ? *std::move(process) : nullptr;
  }

  std::unique_ptr<ProcessLauncher> launcher_ = make_posix_process_launcher();
  std::unique_ptr<Clock> clock_ = make_posix_clock();
};

TEST_F(PosixProcessTest, ASignalThatItIgnoresIsSeen) {
  std::string text;
  const auto process = start("trap '' TERM; trap : USR1; echo ready; sleep 60 & wait", &text);
  ASSERT_TRUE(process);
  const auto family = make_posix_process_families()->family(process->pid(), "");
  ASSERT_TRUE(family);
  ASSERT_FALSE(family->empty());
  EXPECT_TRUE(family->front().ignores(SIGTERM));
  EXPECT_FALSE(family->front().catches(SIGTERM));
  EXPECT_TRUE(family->front().catches(SIGUSR1));
  EXPECT_FALSE(family->front().ignores(SIGUSR1));
}

TEST_F(PosixProcessTest, TheChildLeadsAGroupOfItsOwn) {
  EXPECT_NE(shell("ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat"),
            std::to_string(::getpgrp()) + "\n");
  EXPECT_EQ(shell("test \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ && echo leader"), "leader\n");
}

TEST_F(PosixProcessTest, NoDescriptorOrBlockedSignalIsInherited) {
  const int leak = ::fcntl(0, F_DUPFD, 200);  // without close-on-exec
  sigset_t set;
  sigset_t old;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, &old);
  const auto ignored = ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(shell("test -e /proc/$$/fd/1 && ! test -e /proc/$$/fd/" + std::to_string(leak) +
                  " && echo closed"),
            "closed\n");
  // Signals 32 and 33 are the C library's own: it neither resets nor reports them.
  EXPECT_EQ(shell("for s in $(grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f2); do "
                  "echo $((0x$s & 0x7fffffff)); done | sort -u"),
            "0\n");
  ::signal(SIGPIPE, ignored);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  ::close(leak);
}

TEST_F(PosixProcessTest, EnvironmentAndFolderAreThoseAskedFor) {
  ProcessSpec spec;
  spec.environment = {{"GREETING", "hello there"}, {"PATH", "/usr/bin:/bin"}};
  spec.working_dir = "/usr";
  EXPECT_EQ(shell("pwd; echo $GREETING; env | wc -l", std::move(spec)).substr(0, 17),
            "/usr\nhello there\n");
}

TEST_F(PosixProcessTest, StandardInputIsEmpty) {
  EXPECT_EQ(shell("cat; echo end"), "end\n");
}

TEST_F(PosixProcessTest, AGrandchildThatKeepsThePipeDoesNotHoldUpTheWait) {
  std::string text;
  const auto process = start("sleep 3600 & echo $!", &text);
  ASSERT_TRUE(process);
  const auto status = process->wait({});
  ASSERT_TRUE(status);
  EXPECT_EQ(to_string(*status), "exited with 0");
  // The group is still there, and can be reached although its leader has ended.
  const pid_t grandchild = std::stoi(text);
  EXPECT_EQ(::kill(grandchild, 0), 0);
  EXPECT_TRUE(process->signal_group(SIGKILL));
}

TEST_F(PosixProcessTest, AGrandchildThatNeverStopsWritingDoesNotHoldUpTheWait) {
  std::string text;
  const auto process = start("yes & echo started", &text);
  ASSERT_TRUE(process);
  const auto status = process->wait({});
  ASSERT_TRUE(status);
  EXPECT_EQ(to_string(*status), "exited with 0");
  EXPECT_TRUE(process->signal_group(SIGKILL));
}

TEST_F(PosixProcessTest, AChildThatNeverStopsWritingDoesNotOutrunItsDeadline) {
  std::string text;
  const auto process = start("exec yes", &text);
  ASSERT_TRUE(process);
  const auto late = process->wait({.deadline = clock_->mono_now() + std::chrono::milliseconds(20)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::kDeadlineExceeded);
}

TEST_F(PosixProcessTest, StoppingAsksTheProcessAloneAndThenKillsItsHelpers) {
  std::string text;
  // The helper would say so if SIGTERM reached it.
  const auto process = start(
      "sh -c 'trap \"echo helper-got-term\" TERM; while :; do sleep 0.01; done' & "
      "trap 'sleep 0.1; echo saved; exit 0' TERM; echo $!; while :; do sleep 0.01; done",
      &text);
  ASSERT_TRUE(process);
  const pid_t helper = std::stoi(text);
  const auto status = stop_process(*process, *clock_, {.grace = std::chrono::seconds(60)}, {});
  ASSERT_TRUE(status);
  EXPECT_EQ(to_string(*status), "exited with 0");
  EXPECT_NE(text.find("saved"), std::string::npos);
  EXPECT_EQ(text.find("helper-got-term"), std::string::npos);
  // Killed; its zombie goes when init (or whoever adopts) reaps it.
  const std::string state = shell("sleep 0.05; cut -d' ' -f3 /proc/" + std::to_string(helper) +
                                  "/stat 2>/dev/null || echo gone");
  EXPECT_TRUE(state == "Z\n" || state == "gone\n") << state;
}

TEST_F(PosixProcessTest, DestroyingTheHandleKillsTheGroup) {
  std::string text;
  pid_t pid = 0;
  {
    const auto process = start("echo ready; sleep 3600", &text);
    ASSERT_TRUE(process);
    pid = process->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(PosixProcessTest, ManyThreadsStartProcessesAtOnceAndNoDescriptorIsLeft) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&] {
        for (int code = 0; code < 10; ++code) {
          const auto process =
              launcher_->spawn({.argv = {"sh", "-c", "exit " + std::to_string(code)}});
          if (process && (*process)->wait({}).value() == ExitStatus(Exited{code})) ++right;
          if (!launcher_->spawn({.argv = {"no-such-program"}})) ++right;
        }
      });
    }
  }
  EXPECT_EQ(right, 8 * 10 * 2);
  EXPECT_EQ(descriptors(), before);
}

TEST_F(PosixProcessTest, NamesTheFolderThatIsNotThere) {
  ProcessSpec spec;
  spec.argv = {"true"};
  spec.working_dir = "/no/such/folder";
  const auto process = launcher_->spawn(std::move(spec));
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().to_string(), "run true in /no/such/folder: No such file or directory");
}

}  // namespace
}  // namespace outlast::sys
