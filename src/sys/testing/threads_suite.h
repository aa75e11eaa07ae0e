#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/inbox.h"
#include "sys/testing/world_maker.h"
#include "sys/threads.h"

// What every Clock, Threads and the Inbox on top of them must do. No test here asserts how long
// something takes, only what comes before what.
namespace outlast::sys::testing {

class ThreadsSuite : public ::testing::TestWithParam<WorldMaker> {
 protected:
  static constexpr Duration kShort = std::chrono::milliseconds(5);
  static CallContext within(World& world, Duration length) {
    return {.deadline = world.clock.mono_now() + length};
  }
  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }
};

TEST_P(ThreadsSuite, SleepEndsNoEarlierThanAsked) {
  GetParam().run([](World& world, const std::string&) {
    const MonoTime start = world.clock.mono_now();
    ASSERT_TRUE(world.clock.sleep_for(kShort, {}));
    EXPECT_GE(world.clock.mono_now() - start, kShort);
    EXPECT_GT(world.clock.wall_now(), WallTime());
    EXPECT_TRUE(world.clock.sleep_until(start, {}));  // in the past
  });
}

TEST_P(ThreadsSuite, ASleepEndsWithItsContext) {
  GetParam().run([](World& world, const std::string&) {
    EXPECT_EQ(code_of(world.clock.sleep_for(std::chrono::hours(1), within(world, kShort))),
              ErrorCode::kDeadlineExceeded);
    std::stop_source stop;
    const auto stopper = world.threads.spawn("stopper", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(kShort, {});
      stop.request_stop();
    });
    EXPECT_EQ(code_of(world.clock.sleep_for(std::chrono::hours(1),
                                            {.deadline = kNever, .stop = stop.get_token()})),
              ErrorCode::kCancelled);
  });
}

TEST_P(ThreadsSuite, AThreadIsAskedToStopAndJoinedWhenItsOwnerGoes) {
  GetParam().run([](World& world, const std::string&) {
    bool ended = false;
    {
      const auto thread = world.threads.spawn("waits", [&](const std::stop_token& stop) {
        (void)world.clock.sleep_for(std::chrono::hours(1), {.deadline = kNever, .stop = stop});
        ended = true;
      });
    }
    EXPECT_TRUE(ended);
  });
}

TEST_P(ThreadsSuite, MessagesArriveOnceAndInOrder) {
  GetParam().run([](World& world, const std::string&) {
    Inbox<int> inbox(world.threads, 3);
    const auto sender = world.threads.spawn("sender", [&](const std::stop_token&) {
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(inbox.post(i, {}));
      inbox.close();
    });
    for (int i = 0; i < 100; ++i) EXPECT_EQ(inbox.receive({}).value_or(-1), i);
    EXPECT_EQ(code_of(inbox.receive({})), ErrorCode::kCancelled);
  });
}

TEST_P(ThreadsSuite, ManySendersLoseNothing) {
  GetParam().run([](World& world, const std::string&) {
    Inbox<int> inbox(world.threads, 2);
    std::vector<std::unique_ptr<Thread>> senders;
    for (int s = 0; s < 4; ++s) {
      senders.push_back(world.threads.spawn("sender", [&](const std::stop_token&) {
        for (int i = 1; i <= 25; ++i) ASSERT_TRUE(inbox.post(i, {}));
      }));
    }
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += inbox.receive({}).value_or(0);
    EXPECT_EQ(sum, 4 * 25 * 26 / 2);
    EXPECT_FALSE(inbox.try_receive());
  });
}

TEST_P(ThreadsSuite, AFullInboxHoldsItsSendersBack) {
  GetParam().run([](World& world, const std::string&) {
    Inbox<std::string> inbox(world.threads, 1);
    ASSERT_TRUE(inbox.try_post("first"));
    EXPECT_FALSE(inbox.try_post("second"));
    EXPECT_EQ(code_of(inbox.post("second", within(world, kShort))), ErrorCode::kDeadlineExceeded);
    const auto sender = world.threads.spawn(
        "sender", [&](const std::stop_token&) { EXPECT_TRUE(inbox.post("third", {})); });
    EXPECT_EQ(inbox.receive({}).value_or(""), "first");
    EXPECT_EQ(inbox.receive({}).value_or(""), "third");
  });
}

TEST_P(ThreadsSuite, WaitingForAMessageEndsWithItsContext) {
  GetParam().run([](World& world, const std::string&) {
    Inbox<int> inbox(world.threads, 1);
    EXPECT_EQ(code_of(inbox.receive(within(world, kShort))), ErrorCode::kDeadlineExceeded);
    std::stop_source stop;
    const auto stopper = world.threads.spawn("stopper", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(kShort, {});
      stop.request_stop();
    });
    EXPECT_EQ(code_of(inbox.receive({.deadline = kNever, .stop = stop.get_token()})),
              ErrorCode::kCancelled);
    // What is there wins over a stop.
    ASSERT_TRUE(inbox.try_post(7));
    EXPECT_EQ(inbox.receive({.deadline = kNever, .stop = stop.get_token()}).value_or(0), 7);
  });
}

TEST_P(ThreadsSuite, ClosingWakesSendersAndReceivers) {
  GetParam().run([](World& world, const std::string&) {
    Inbox<int> full(world.threads, 1);
    Inbox<int> empty(world.threads, 1);
    ASSERT_TRUE(full.try_post(1));
    const auto sender = world.threads.spawn("sender", [&](const std::stop_token&) {
      EXPECT_EQ(code_of(full.post(2, {})), ErrorCode::kCancelled);
    });
    const auto receiver = world.threads.spawn("receiver", [&](const std::stop_token&) {
      EXPECT_EQ(code_of(empty.receive({})), ErrorCode::kCancelled);
    });
    (void)world.clock.sleep_for(kShort, {});
    full.close();
    empty.close();
    sender->join();
    receiver->join();
    EXPECT_EQ(full.receive({}).value_or(0), 1);  // posted before the close
  });
}

}  // namespace outlast::sys::testing
