// What only real signals can show.
#include "sys/posix_own_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "sys/own_signals.h"
#include "sys/posix_process.h"
#include "sys/process.h"

namespace outlast::sys {
namespace {

// Ends this process, if nobody listens.
void raise_and_wait(int signal_number) {
  ::kill(::getpid(), signal_number);
  ::pause();
}

TEST(PosixOwnSignalsDeathTest, WhoDoesNotListenIsEndedAsAlways) {
  const auto signals = make_posix_own_signals();
  EXPECT_EXIT(raise_and_wait(SIGTERM), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(
      {
        const auto listener = signals->subscribe({SIGTERM});
        raise_and_wait(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(PosixOwnSignalsDeathTest, WhoNoLongerListensIsEndedAsAlways) {
  const auto signals = make_posix_own_signals();
  EXPECT_EXIT(
      {
        {
          const auto listener = signals->subscribe({SIGTERM});
          ::kill(::getpid(), SIGTERM);
          if (!listener || (*listener)->next({}).value_or(0) != SIGTERM) ::_exit(1);
        }
        raise_and_wait(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(PosixOwnSignals, WhatNohupIgnoresStaysIgnored) {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  {
    const auto signals = make_posix_own_signals();
    const auto listener = signals->subscribe({SIGHUP, SIGTERM});
    ASSERT_TRUE(listener);
    ::kill(::getpid(), SIGHUP);
    ::kill(::getpid(), SIGTERM);
    EXPECT_EQ((*listener)->next({}).value_or(0), SIGTERM);
  }
  EXPECT_EQ(::signal(SIGHUP, before), SIG_IGN);
}

TEST(PosixOwnSignals, ChildrenNoticeNothingOfIt) {
  const auto signals = make_posix_own_signals();
  const auto listener = signals->subscribe({SIGTERM, SIGINT, SIGHUP, SIGUSR1});
  ASSERT_TRUE(listener);
  std::string text;
  const auto child = make_posix_process_launcher()->spawn(
      {.argv = {"cat", "/proc/self/status"},
       .out = {.target = Output::Sink([&](std::string_view piece) { text += piece; })}});
  ASSERT_TRUE(child);
  ASSERT_TRUE((*child)->wait({}));
  for (const std::string_view line : {"SigBlk:\t", "SigIgn:\t", "SigCgt:\t"}) {
    const std::size_t at = text.find(line);
    ASSERT_NE(at, std::string::npos) << text;
    // Signals 32 and 33 are the C library's own.
    const unsigned long long mask = std::stoull(text.substr(at + line.size(), 16), nullptr, 16);
    EXPECT_EQ(mask & 0x7fffffffU, 0U) << text;
  }
}

}  // namespace
}  // namespace outlast::sys
