#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/file_system.h"
#include "sys/local_socket.h"
#include "sys/shared_memory.h"
#include "sys/testing/world_maker.h"
#include "sys/threads.h"

// What every LocalSockets and SharedMemories must do.
namespace outlast::sys::testing {

class LocalSocketSuite : public ::testing::TestWithParam<WorldMaker> {
 protected:
  static constexpr Duration kShort = std::chrono::milliseconds(5);

  // Two that are connected, and where.
  struct Setting {
    World& world;
    std::string path;
    std::unique_ptr<LocalListener>& listener;
    std::unique_ptr<LocalSocket>& accepted;
    std::unique_ptr<LocalSocket>& connected;

    CallContext soon() const { return {.deadline = world.clock.mono_now() + kShort}; }
    // Stops this call after a while.
    template <typename Call>
    auto stopped(const Call& call) const {
      std::stop_source stop;
      const auto stopper = world.threads.spawn("stopper", [&](const std::stop_token&) {
        (void)world.clock.sleep_for(kShort, {});
        stop.request_stop();
      });
      return call({.deadline = kNever, .stop = stop.get_token()});
    }
    std::shared_ptr<SharedMemory> memory(std::uint64_t size) const {
      auto made = world.shared_memories.make(size);
      EXPECT_TRUE(made) << made.error().to_string();
      return made ? *made : nullptr;
    }
    // Sends until there is no room. How many there was room for.
    int fill(LocalSocket& socket) const {
      for (int sent = 0; sent < 100'000; ++sent) {
        const auto result = socket.send({.text = std::to_string(sent)}, soon());
        if (result) continue;
        EXPECT_EQ(result.error().code(), ErrorCode::kDeadlineExceeded);
        return sent;
      }
      ADD_FAILURE() << "there is always room";
      return 0;
    }
  };
  void run(const std::function<void(const Setting&)>& body) {
    GetParam().run([&](World& world, const std::string& scratch) {
      const std::string path = scratch + "/socket";
      auto listener = world.local_sockets.listen(path);
      ASSERT_TRUE(listener) << listener.error().to_string();
      auto connected = world.local_sockets.connect(path, {});
      ASSERT_TRUE(connected) << connected.error().to_string();
      auto accepted = (*listener)->accept({});
      ASSERT_TRUE(accepted) << accepted.error().to_string();
      body({.world = world,
            .path = path,
            .listener = *listener,
            .accepted = *accepted,
            .connected = *connected});
    });
  }
  static std::string receive(LocalSocket& socket) {
    const auto message = socket.receive({});
    return message ? message->text : message.error().to_string();
  }
  template <typename T>
  static ErrorCode code_of(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::kFailed : result.error().code();
  }
};

TEST_P(LocalSocketSuite, MessagesArriveWholeAndInOrderBothWays) {
  run([](const Setting& s) {
    const std::string with_zeros("a\0b\n", 4);
    const std::string longest(kLocalMessageMax, 'x');
    for (LocalSocket* from : {s.accepted.get(), s.connected.get()}) {
      LocalSocket& to = from == s.accepted.get() ? *s.connected : *s.accepted;
      ASSERT_TRUE(from->send({.text = "one"}, {}));
      ASSERT_TRUE(from->send({.text = with_zeros}, {}));
      ASSERT_TRUE(from->send({.text = longest}, {}));
      ASSERT_TRUE(from->send({.text = "four"}, {}));
      EXPECT_EQ(receive(to), "one");
      EXPECT_EQ(receive(to), with_zeros);
      EXPECT_EQ(receive(to), longest);
      EXPECT_EQ(receive(to), "four");
    }
  });
}

TEST_P(LocalSocketSuite, AMessageThatIsTooLongOrEmptyIsNotSent) {
  run([](const Setting& s) {
    EXPECT_EQ(code_of(s.connected->send({.text = std::string(kLocalMessageMax + 1, 'x')}, {})),
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(code_of(s.connected->send({}, {})), ErrorCode::kInvalidArgument);
    ASSERT_TRUE(s.connected->send({.text = "next"}, {}));
    EXPECT_EQ(receive(*s.accepted), "next");
  });
}

TEST_P(LocalSocketSuite, MemoryIsZeroAndAlignedAndAsLongAsAsked) {
  run([](const Setting& s) {
    for (const std::uint64_t size : {1U, 4096U, 100'000U}) {
      const auto memory = s.memory(size);
      ASSERT_TRUE(memory);
      ASSERT_EQ(memory->bytes().size(), size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->bytes().data()) % 4096, 0U);
      EXPECT_EQ(as_text(memory->bytes()), std::string(size, '\0'));
    }
    EXPECT_EQ(code_of(s.world.shared_memories.make(0)), ErrorCode::kInvalidArgument);
    const auto too_much = s.world.shared_memories.make(std::uint64_t{1} << 60U);
    EXPECT_EQ(code_of(too_much), ErrorCode::kUnavailable);
    EXPECT_EQ(code_of(s.world.shared_memories.make(~std::uint64_t{0})), ErrorCode::kUnavailable);
  });
}

TEST_P(LocalSocketSuite, MemoryThatIsHandedOverIsTheSameMemory) {
  run([](const Setting& s) {
    auto ours = s.memory(5000);
    ASSERT_TRUE(ours);
    ours->bytes()[4999] = std::byte{1};
    ASSERT_TRUE(s.accepted->send({.text = "with", .memory = ours}, {}));
    ASSERT_TRUE(s.accepted->send({.text = "without"}, {}));
    const auto with = s.connected->receive({});
    ASSERT_TRUE(with) << with.error().to_string();
    EXPECT_EQ(with->text, "with");
    ASSERT_TRUE(with->memory);
    ASSERT_EQ(with->memory->bytes().size(), 5000U);
    EXPECT_EQ(with->memory->bytes()[4999], std::byte{1});
    with->memory->bytes()[0] = std::byte{2};
    EXPECT_EQ(ours->bytes()[0], std::byte{2});
    ours->bytes()[1] = std::byte{3};
    EXPECT_EQ(with->memory->bytes()[1], std::byte{3});
    const auto without = s.connected->receive({});
    ASSERT_TRUE(without);
    EXPECT_FALSE(without->memory);

    // It can be handed on, and lasts as long as anybody has it.
    ours.reset();
    ASSERT_TRUE(s.connected->send({.text = "back", .memory = with->memory}, {}));
    const auto back = s.accepted->receive({});
    ASSERT_TRUE(back) << back.error().to_string();
    ASSERT_TRUE(back->memory);
    EXPECT_EQ(back->memory->bytes()[1], std::byte{3});
    EXPECT_EQ(back->memory->bytes()[4999], std::byte{1});
  });
}

TEST_P(LocalSocketSuite, WhoIsGoneCannotBeReached) {
  run([](const Setting& s) {
    s.connected.reset();
    EXPECT_EQ(code_of(s.accepted->receive({})), ErrorCode::kUnavailable);
    EXPECT_EQ(code_of(s.accepted->receive({})), ErrorCode::kUnavailable);
    EXPECT_EQ(code_of(s.accepted->send({.text = "x"}, {})), ErrorCode::kUnavailable);
  });
}

TEST_P(LocalSocketSuite, WhatWasSentBeforeTheEndIsReceived) {
  run([](const Setting& s) {
    const auto memory = s.memory(10);
    ASSERT_TRUE(memory);
    // Also if it has not read everything itself.
    ASSERT_TRUE(s.accepted->send({.text = "not read"}, {}));
    ASSERT_TRUE(s.connected->send({.text = "one", .memory = memory}, {}));
    ASSERT_TRUE(s.connected->send({.text = "two"}, {}));
    s.connected.reset();
    const auto one = s.accepted->receive({});
    ASSERT_TRUE(one) << one.error().to_string();
    EXPECT_EQ(one->text, "one");
    EXPECT_TRUE(one->memory);
    EXPECT_EQ(receive(*s.accepted), "two");
    EXPECT_EQ(code_of(s.accepted->receive({})), ErrorCode::kUnavailable);
  });
}

TEST_P(LocalSocketSuite, WhoWaitsForAMessageLearnsOfTheEnd) {
  run([](const Setting& s) {
    const auto leaves = s.world.threads.spawn("leaves", [&](const std::stop_token&) {
      (void)s.world.clock.sleep_for(kShort, {});
      s.connected.reset();
    });
    EXPECT_EQ(code_of(s.accepted->receive({})), ErrorCode::kUnavailable);
  });
}

TEST_P(LocalSocketSuite, WhoWaitsForRoomLearnsOfTheEnd) {
  run([](const Setting& s) {
    s.fill(*s.accepted);
    const auto leaves = s.world.threads.spawn("leaves", [&](const std::stop_token&) {
      (void)s.world.clock.sleep_for(kShort, {});
      s.connected.reset();
    });
    EXPECT_EQ(code_of(s.accepted->send({.text = "one more"}, {})), ErrorCode::kUnavailable);
  });
}

TEST_P(LocalSocketSuite, WaitingEndsWithTheContext) {
  run([](const Setting& s) {
    EXPECT_EQ(code_of(s.listener->accept(s.soon())), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(code_of(s.accepted->receive(s.soon())), ErrorCode::kDeadlineExceeded);
    const int sent = s.fill(*s.connected);
    EXPECT_EQ(code_of(s.stopped([&](const CallContext& ctx) { return s.listener->accept(ctx); })),
              ErrorCode::kCancelled);
    EXPECT_EQ(code_of(s.stopped([&](const CallContext& ctx) { return s.connected->receive(ctx); })),
              ErrorCode::kCancelled);
    EXPECT_EQ(code_of(s.stopped([&](const CallContext& ctx) {
                return s.connected->send({.text = "stopped"}, ctx);
              })),
              ErrorCode::kCancelled);
    // Only what was sent arrives.
    for (int i = 0; i < sent; ++i) ASSERT_EQ(receive(*s.accepted), std::to_string(i));
    EXPECT_EQ(code_of(s.accepted->receive(s.soon())), ErrorCode::kDeadlineExceeded);
  });
}

TEST_P(LocalSocketSuite, WhoSendsWaitsForWhoReadsSlowly) {
  run([](const Setting& s) {
    constexpr int kMessages = 100;
    const std::string padding(20'000, ' ');
    const auto sender = s.world.threads.spawn("sender", [&](const std::stop_token&) {
      for (int i = 0; i < kMessages; ++i) {
        ASSERT_TRUE(s.connected->send({.text = std::to_string(i) + padding}, {}));
      }
    });
    for (int i = 0; i < kMessages; ++i) {
      ASSERT_EQ(receive(*s.accepted), std::to_string(i) + padding);
    }
  });
}

TEST_P(LocalSocketSuite, OneThreadSendsWhileAnotherReceives) {
  run([](const Setting& s) {
    constexpr int kMessages = 200;
    const auto echo = s.world.threads.spawn("echo", [&](const std::stop_token&) {
      for (int i = 0; i < kMessages; ++i) {
        const auto message = s.accepted->receive({});
        ASSERT_TRUE(message) << message.error().to_string();
        ASSERT_TRUE(s.accepted->send(*message, {}));
      }
    });
    const auto sender = s.world.threads.spawn("sender", [&](const std::stop_token&) {
      for (int i = 0; i < kMessages; ++i) {
        ASSERT_TRUE(s.connected->send({.text = std::to_string(i)}, {}));
      }
    });
    for (int i = 0; i < kMessages; ++i) ASSERT_EQ(receive(*s.connected), std::to_string(i));
  });
}

TEST_P(LocalSocketSuite, EachConnectionIsItsOwn) {
  run([](const Setting& s) {
    const auto second = s.world.local_sockets.connect(s.path, {});
    ASSERT_TRUE(second) << second.error().to_string();
    ASSERT_TRUE((*second)->send({.text = "before it is accepted"}, {}));
    const auto accepted = s.listener->accept({});
    ASSERT_TRUE(accepted) << accepted.error().to_string();
    ASSERT_TRUE(s.connected->send({.text = "first"}, {}));
    EXPECT_EQ(receive(**accepted), "before it is accepted");
    EXPECT_EQ(receive(*s.accepted), "first");
    s.connected.reset();
    ASSERT_TRUE((*accepted)->send({.text = "still there"}, {}));
    EXPECT_EQ(receive(**second), "still there");
  });
}

TEST_P(LocalSocketSuite, AListenerThatGoesLeavesNothingBehind) {
  run([](const Setting& s) {
    const auto waits = s.world.local_sockets.connect(s.path, {});
    ASSERT_TRUE(waits) << waits.error().to_string();
    s.listener.reset();
    EXPECT_EQ(code_of((*waits)->receive({})), ErrorCode::kUnavailable);  // never accepted
    EXPECT_EQ(code_of(s.world.local_sockets.connect(s.path, {})), ErrorCode::kUnavailable);
    EXPECT_EQ(code_of(s.world.files.stat(s.path)), ErrorCode::kNotFound);
    ASSERT_TRUE(s.connected->send({.text = "still connected"}, {}));
    EXPECT_EQ(receive(*s.accepted), "still connected");
  });
}

TEST_P(LocalSocketSuite, WhoListensLastGetsTheConnections) {
  run([](const Setting& s) {
    auto later = s.world.local_sockets.listen(s.path);
    ASSERT_TRUE(later) << later.error().to_string();
    const auto connected = s.world.local_sockets.connect(s.path, {});
    ASSERT_TRUE(connected) << connected.error().to_string();
    EXPECT_TRUE((*later)->accept({}));
    EXPECT_EQ(code_of(s.listener->accept(s.soon())), ErrorCode::kDeadlineExceeded);
    s.listener.reset();  // the name is not its own any more
    EXPECT_TRUE(s.world.local_sockets.connect(s.path, {}));
  });
}

TEST_P(LocalSocketSuite, NobodyListensAndNobodyCan) {
  run([](const Setting& s) {
    LocalSockets& sockets = s.world.local_sockets;
    EXPECT_EQ(code_of(sockets.connect(s.path + "2", {})), ErrorCode::kUnavailable);
    EXPECT_EQ(code_of(sockets.connect(s.path + "-none/socket", {})), ErrorCode::kUnavailable);
    EXPECT_EQ(code_of(sockets.listen(s.path + "-none/socket")), ErrorCode::kNotFound);
    for (const std::string& path : {s.path + std::string(kLocalPathMax, 'x'), std::string(),
                                    s.path + std::string("\0x", 2)}) {
      EXPECT_EQ(code_of(sockets.listen(path)), ErrorCode::kInvalidArgument);
      EXPECT_EQ(code_of(sockets.connect(path, {})), ErrorCode::kInvalidArgument);
    }
    const std::string longest = s.path + std::string(kLocalPathMax - s.path.size(), 'x');
    const auto listener = sockets.listen(longest);
    EXPECT_TRUE(listener) << listener.error().to_string();
    EXPECT_TRUE(sockets.connect(longest, {}));
    const std::string file = s.path + "-file";
    ASSERT_TRUE(s.world.files.open(file, OpenMode::kCreate));
    EXPECT_EQ(code_of(sockets.listen(file)), ErrorCode::kAlreadyExists);
    EXPECT_TRUE(s.world.files.stat(file));
  });
}

TEST_P(LocalSocketSuite, WhoIsOnTheOtherSideIsKnown) {
  run([](const Setting& s) {
    EXPECT_GT(s.accepted->peer_pid(), 0);
    EXPECT_EQ(s.accepted->peer_pid(), s.connected->peer_pid());  // both are this process
  });
}

}  // namespace outlast::sys::testing
