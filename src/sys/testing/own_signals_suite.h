#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/own_signals.h"
#include "sys/testing/world_maker.h"
#include "sys/threads.h"

// What every OwnSignals must do.
namespace outlast::sys::testing {

struct SignalWorld {
  WorldMaker maker;
  std::function<void(int signal_number)> send;  // to the program that runs in the maker's world
  friend std::ostream& operator<<(std::ostream& out, const SignalWorld& world) {
    return out << world.maker.name;
  }
};

class OwnSignalsSuite : public ::testing::TestWithParam<SignalWorld> {
 protected:
  static constexpr Duration kShort = std::chrono::milliseconds(5);

  static std::unique_ptr<SignalSubscription> hear_of(World& world,
                                                     const std::vector<int>& numbers) {
    auto subscription = world.own_signals.subscribe(numbers);
    EXPECT_TRUE(subscription) << subscription.error().to_string();
    return subscription ? *std::move(subscription) : nullptr;
  }
  static CallContext within(World& world, Duration length) {
    return {.deadline = world.clock.mono_now() + length};
  }
  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }
};

TEST_P(OwnSignalsSuite, SignalsAreValuesInTheOrderInWhichTheyCame) {
  GetParam().maker.run([](World& world, const std::string&) {
    const auto signals = hear_of(world, {SIGTERM, SIGINT, SIGHUP, SIGUSR1});
    ASSERT_TRUE(signals);
    // Before anybody waits for them.
    const std::vector<int> sent = {SIGUSR1, SIGHUP, SIGINT, SIGTERM};
    for (const int number : sent) GetParam().send(number);
    for (const int number : sent) EXPECT_EQ(signals->next({}).value_or(0), number);
  });
}

TEST_P(OwnSignalsSuite, ASecondInterruptIsHeardWhileTheFirstIsHandled) {
  GetParam().maker.run([](World& world, const std::string&) {
    const auto signals = hear_of(world, {SIGINT});
    ASSERT_TRUE(signals);
    GetParam().send(SIGINT);
    EXPECT_EQ(signals->next({}).value_or(0), SIGINT);
    GetParam().send(SIGINT);
    GetParam().send(SIGINT);
    EXPECT_EQ(signals->next({}).value_or(0), SIGINT);
    EXPECT_EQ(signals->next({}).value_or(0), SIGINT);
  });
}

TEST_P(OwnSignalsSuite, AThreadThatWaitsIsWoken) {
  GetParam().maker.run([](World& world, const std::string&) {
    const auto signals = hear_of(world, {SIGTERM});
    ASSERT_TRUE(signals);
    int heard = 0;
    {
      const auto listener = world.threads.spawn(
          "listener", [&](const std::stop_token&) { heard = signals->next({}).value_or(-1); });
      (void)world.clock.sleep_for(kShort, {});
      GetParam().send(SIGTERM);
      listener->join();
    }
    EXPECT_EQ(heard, SIGTERM);
  });
}

TEST_P(OwnSignalsSuite, WaitingEndsWithItsContext) {
  GetParam().maker.run([](World& world, const std::string&) {
    const auto signals = hear_of(world, {SIGTERM});
    ASSERT_TRUE(signals);
    EXPECT_EQ(code_of(signals->next(within(world, kShort))), ErrorCode::kDeadlineExceeded);
    std::stop_source stop;
    const auto stopper = world.threads.spawn("stopper", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(kShort, {});
      stop.request_stop();
    });
    const CallContext until_stopped{.deadline = kNever, .stop = stop.get_token()};
    EXPECT_EQ(code_of(signals->next(until_stopped)), ErrorCode::kCancelled);
    // What is there wins over a stop and over a deadline.
    GetParam().send(SIGTERM);
    EXPECT_EQ(signals->next(until_stopped).value_or(0), SIGTERM);
    GetParam().send(SIGTERM);
    EXPECT_EQ(signals->next(within(world, -kShort)).value_or(0), SIGTERM);
  });
}

TEST_P(OwnSignalsSuite, WhatCameBeforeAListenerIsNotItsNews) {
  GetParam().maker.run([](World& world, const std::string&) {
    auto first = hear_of(world, {SIGUSR1});
    ASSERT_TRUE(first);
    GetParam().send(SIGUSR1);
    first.reset();
    const auto second = hear_of(world, {SIGUSR1});
    ASSERT_TRUE(second);
    EXPECT_EQ(code_of(second->next(within(world, kShort))), ErrorCode::kDeadlineExceeded);
    GetParam().send(SIGUSR1);
    EXPECT_EQ(second->next({}).value_or(0), SIGUSR1);
  });
}

TEST_P(OwnSignalsSuite, EachOfTwoListenersHearsAllOfItsOwn) {
  GetParam().maker.run([](World& world, const std::string&) {
    auto first = hear_of(world, {SIGTERM, SIGINT});
    const auto second = hear_of(world, {SIGTERM, SIGUSR1});
    ASSERT_TRUE(first && second);
    GetParam().send(SIGUSR1);
    GetParam().send(SIGTERM);
    EXPECT_EQ(first->next({}).value_or(0), SIGTERM);
    EXPECT_EQ(second->next({}).value_or(0), SIGUSR1);
    EXPECT_EQ(second->next({}).value_or(0), SIGTERM);
    first.reset();
    GetParam().send(SIGTERM);  // is still no end
    EXPECT_EQ(second->next({}).value_or(0), SIGTERM);
  });
}

TEST_P(OwnSignalsSuite, WhatCannotBeListenedForIsRefused) {
  GetParam().maker.run([](World& world, const std::string&) {
    const auto refused = world.own_signals.subscribe({SIGTERM, SIGKILL});
    EXPECT_EQ(code_of(refused), ErrorCode::kInvalidArgument);
    EXPECT_EQ(refused.error().to_string(),
              "signal 9 cannot be listened for: only SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGUSR2 "
              "can");
    EXPECT_EQ(code_of(world.own_signals.subscribe({})), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(hear_of(world, {SIGTERM, SIGTERM}));  // and nothing was left behind
  });
}

}  // namespace outlast::sys::testing
