// That nothing we started outlives us, however we end: with real processes that are really killed.
#include "sys/posix_keeper.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sys/posix_clock.h"
#include "sys/posix_process.h"
#include "sys/process.h"

namespace outlast::sys {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();  // takes an end of the process while it is read for the end
  return text.str();
}

// The fields of /proc/PID/stat from the third on: state, parent, group, …; empty if there is none.
std::vector<std::string> stat_of(int pid) {
  const std::string text = text_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return {};
  std::istringstream rest(text.substr(name_ends + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

// A zombie is dead; it goes when init, or whoever adopts it, gets round to it.
bool is_dead(int pid) {
  const std::vector<std::string> stat = stat_of(pid);
  return stat.empty() || stat[0] == "Z" || stat[0] == "X";
}

bool eventually(const std::function<bool()>& condition) {
  const auto clock = make_posix_clock();
  const MonoTime patience = clock->mono_now() + std::chrono::seconds(30);
  while (!condition()) {
    if (clock->mono_now() > patience) return false;
    (void)clock->sleep_for(std::chrono::milliseconds(2), {});
  }
  return true;
}

// A process of its own that starts a shell script through the launcher, passes on what it prints,
// and does nothing else: something to kill.
class Supervisor {
 public:
  enum class StartsOn { kMainThread, kThreadThatEnds };

  Supervisor(const std::string& script, bool dies_with_us,
             StartsOn thread = StartsOn::kMainThread) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      supervise(script, dies_with_us, thread, ends[1]);
    }
    ::close(ends[1]);
    read_ = ends[0];
  }
  ~Supervisor() {
    kill_it();
    ::close(read_);
  }

  std::vector<int> read_pids(std::size_t count) {
    std::string text;
    char c = 0;
    while (::read(read_, &c, 1) == 1 && c != '\n') text += c;
    std::istringstream numbers(text);
    std::vector<int> pids{std::istream_iterator<int>(numbers), {}};
    EXPECT_EQ(pids.size(), count) << text;
    pids.resize(count);
    return pids;
  }

  void kill_it() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void supervise(const std::string& script, bool dies_with_us, StartsOn thread,
                                     int out) {
    const auto launcher = make_posix_process_launcher();
    std::unique_ptr<Process> process;
    const auto start = [&] {
      auto started = launcher->spawn({.argv = {"sh", "-c", script},
                                      .out = {.target = Output::Sink([out](std::string_view piece) {
                                                if (::write(out, piece.data(), piece.size()) < 0)
                                                  ::_exit(2);
                                              })},
                                      .dies_with_us = dies_with_us});
      if (!started) ::_exit(1);
      process = *std::move(started);
    };
    if (thread == StartsOn::kMainThread) {
      start();
    } else {
      std::thread(start).join();
    }
    while (true) {
      if (process->wait({})) ::pause();
    }
  }

  int pid_ = -1;
  int read_ = -1;
};

TEST(PosixKeeper, WhenWeAreKilledTheWholeGroupDies) {
  Supervisor supervisor("(sleep 3600 & echo $! $$; wait) & wait", true);
  const std::vector<int> pids = supervisor.read_pids(2);
  for (const int pid : pids) EXPECT_FALSE(is_dead(pid));
  supervisor.kill_it();
  for (const int pid : pids) EXPECT_TRUE(eventually([&] { return is_dead(pid); })) << pid;
}

TEST(PosixKeeper, WhatItsParentHasLeftBehindDiesToo) {
  // The trainer itself has ended, and has been waited for; its helper has not.
  Supervisor supervisor("sleep 3600 & echo $! $$", true);
  const std::vector<int> pids = supervisor.read_pids(2);
  EXPECT_TRUE(eventually([&] { return is_dead(pids[1]); }));
  EXPECT_FALSE(is_dead(pids[0]));
  supervisor.kill_it();
  EXPECT_TRUE(eventually([&] { return is_dead(pids[0]); }));
}

TEST(PosixKeeper, WorkersInSessionsOfTheirOwnDieToo) {
  // As torchrun starts them; and one of them has started another one.
  Supervisor supervisor("setsid sh -c 'setsid sleep 3600 & echo $! $$ $PPID; wait' & wait", true);
  const std::vector<int> pids = supervisor.read_pids(3);
  EXPECT_NE(stat_of(pids[1]).at(3), stat_of(pids[2]).at(3));  // two sessions
  supervisor.kill_it();
  for (const int pid : pids) EXPECT_TRUE(eventually([&] { return is_dead(pid); })) << pid;
}

TEST(PosixKeeper, WhoForksWithoutEndIsEnded) {
  const std::string length = "1000." + std::to_string(::getpid());  // to know them by
  Supervisor supervisor("echo $$; while :; do setsid sleep " + length + " & sleep 0.001; done",
                        true);
  const int pid = supervisor.read_pids(1)[0];
  const auto workers = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string command = text_of(entry.path() / "cmdline");
      if (command.starts_with("sleep") && command.find(length) != std::string::npos) ++count;
    }
    return count;
  };
  EXPECT_TRUE(eventually([&] { return workers() >= 20; }));
  supervisor.kill_it();
  EXPECT_TRUE(eventually([&] { return is_dead(pid); }));
  EXPECT_TRUE(eventually([&] { return workers() == 0; })) << workers();
}

TEST(PosixKeeper, AStoppedGroupDiesToo) {
  Supervisor supervisor("echo $$; exec sleep 3600", true);
  const int pid = supervisor.read_pids(1)[0];
  ::kill(-pid, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return stat_of(pid).at(0) == "T"; }));
  supervisor.kill_it();
  EXPECT_TRUE(eventually([&] { return is_dead(pid); }));
}

TEST(PosixKeeper, TheEndOfTheThreadThatStartedItIsNotOurEnd) {
  Supervisor supervisor("echo $$; sleep 0.2; echo $$; exec sleep 3600", true,
                        Supervisor::StartsOn::kThreadThatEnds);
  const int pid = supervisor.read_pids(1)[0];
  EXPECT_EQ(supervisor.read_pids(1)[0], pid);  // long after the thread has ended
  EXPECT_FALSE(is_dead(pid));
  supervisor.kill_it();
  EXPECT_TRUE(eventually([&] { return is_dead(pid); }));
}

TEST(PosixKeeper, WhatNeedNotDieWithUsLivesOn) {
  const std::filesystem::path beats =
      std::filesystem::temp_directory_path() / ("outlast-beats-" + std::to_string(::getpid()));
  Supervisor supervisor("echo $$; while :; do echo >>" + beats.string() + "; sleep 0.01; done",
                        false);
  const int pid = supervisor.read_pids(1)[0];
  supervisor.kill_it();
  const std::size_t before = text_of(beats).size();
  EXPECT_TRUE(eventually([&] { return text_of(beats).size() > before + 5; }));
  ::kill(-pid, SIGKILL);
  std::filesystem::remove(beats);
}

// The keeper of a child of this process: what is in the child's group, but has us as its parent.
int keeper_of(int child) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const int pid = std::stoi(name);
    const std::vector<std::string> stat = stat_of(pid);
    if (pid == child || stat.size() < 3) continue;
    if (stat[1] == std::to_string(::getpid()) && stat[2] == std::to_string(child)) return pid;
  }
  return 0;
}

std::string line_of(int pid, const std::string& file, const std::string& start) {
  std::istringstream text(text_of("/proc/" + std::to_string(pid) + "/" + file));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return {};
}

std::unique_ptr<Process> start_sleeper(bool dies_with_us = true) {
  auto process = make_posix_process_launcher()->spawn(
      {.argv = {"sleep", "3600"}, .dies_with_us = dies_with_us});
  EXPECT_TRUE(process);
  return *std::move(process);
}

TEST(PosixKeeper, ItKeepsNothingOfOursAndGoesWithTheProcess) {
  auto process = start_sleeper();
  const int keeper = keeper_of(process->pid());
  ASSERT_GT(keeper, 0);
  const std::filesystem::path folder = "/proc/" + std::to_string(keeper);
  const auto descriptors = [&] {
    const auto all = std::filesystem::directory_iterator(folder / "fd");
    return std::distance(begin(all), end(all));
  };
  EXPECT_TRUE(eventually([&] { return descriptors() == 1; }));
  EXPECT_TRUE(eventually([&] { return std::filesystem::read_symlink(folder / "cwd") == "/"; }));
  // Whatever is sent to the group, but SIGKILL, does not reach it.
  const std::string blocked = line_of(keeper, "status", "SigBlk:\t");
  EXPECT_EQ(blocked, "fffffffe7ffbfeff");  // all but KILL, STOP and two of the C library
  ASSERT_TRUE(process->signal_group(SIGTERM));
  ASSERT_TRUE(process->wait({}));
  EXPECT_FALSE(is_dead(keeper));
  process.reset();
  EXPECT_TRUE(stat_of(keeper).empty());  // not even a zombie
}

TEST(PosixKeeper, ThereIsNoneForWhatNeedNotDieWithUs) {
  const auto process = start_sleeper(false);
  EXPECT_EQ(keeper_of(process->pid()), 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
TEST(PosixKeeper, ItGivesBackTheMemoryThatItInherited) {
  const std::vector<char> large(64U << 20U, 'x');
  const std::vector<std::vector<char>> small(20'000, std::vector<char>(1000, 'x'));
  const auto process = start_sleeper();
  const int keeper = keeper_of(process->pid());
  ASSERT_GT(keeper, 0);
  const auto anonymous_kib = [&] {
    return std::stol("0" + line_of(keeper, "status", "RssAnon:\t"));
  };
  EXPECT_TRUE(eventually([&] { return anonymous_kib() < 2048; })) << anonymous_kib() << " KiB";
  EXPECT_FALSE(is_dead(keeper));
  EXPECT_EQ(large.back() + small.back().back(), 'x' + 'x');
}
#endif

}  // namespace
}  // namespace outlast::sys
