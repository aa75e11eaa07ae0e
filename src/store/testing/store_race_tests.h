#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/time.h"
#include "store/object_store.h"
#include "store/testing/store_fixture.h"
#include "sys/call_context.h"
#include "sys/world.h"

// What every store promises to many callers at once, and to those that do not want to wait.
namespace outlast::store::testing {

constexpr std::size_t kRacers = 16;

// Under contention a store may say that it did nothing and wants to be asked again.
inline bool asks_for_another_try(const Error& error) {
  return error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kThrottled;
}

TEST_P(StoreSuite, OneOfManyRacingWritersWins) {
  on_store([](ObjectStore& store, sys::World& world) {
    enum class End { kLost, kWon, kOther };
    const std::size_t rounds = race_rounds(world);
    StartingLine line(world.threads, kRacers);
    std::array<End, kRacers> ends{};
    on_threads(world, kRacers, [&](std::size_t racer) {
      for (std::size_t round = 0; round < rounds; ++round) {
        const std::string key = fmt::format("race/{:06}", round);
        const std::string mine = fmt::format("racer {} in round {}", racer, round);
        line.wait();
        Result<std::string> put = store.put(key, as_bytes(mine), WriteIf::absent(), {});
        for (int again = 0; again < 100 && !put && asks_for_another_try(put.error()); ++again) {
          put = store.put(key, as_bytes(mine), WriteIf::absent(), {});
        }
        ends[racer] = put                                               ? End::kWon
                      : put.error().code() == ErrorCode::kAlreadyExists ? End::kLost
                                                                        : End::kOther;
        EXPECT_NE(ends[racer], End::kOther) << why(put);
        line.wait();
        if (racer != 0) continue;
        std::size_t winners = 0;
        std::string winner;
        for (std::size_t i = 0; i < kRacers; ++i) {
          if (ends[i] != End::kWon) continue;
          ++winners;
          winner = fmt::format("racer {} in round {}", i, round);
        }
        EXPECT_EQ(winners, 1U) << "round " << round;
        EXPECT_EQ(read(store, key), winner) << "round " << round;
      }
    });
  });
}

TEST_P(StoreSuite, RacingReplacementsLoseNoUpdate) {
  on_store([](ObjectStore& store, sys::World& world) {
    constexpr int kUpdatesEach = 3;
    put(store, "counter", "0");
    on_threads(world, kRacers, [&](std::size_t) {
      for (int done = 0; done < kUpdatesEach && !HasFailure();) {
        std::string text;
        const auto info = store.get("counter", {},
                                    [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                                      text += as_text(piece);
                                      return {};
                                    },
                                    {});
        if (!info && asks_for_another_try(info.error())) continue;
        ASSERT_TRUE(info) << why(info);
        const auto count = parse_number<int>(text);
        ASSERT_TRUE(count) << "the counter is '" << text << "', which nobody wrote";
        const auto version = store.put("counter", as_bytes(std::to_string(*count + 1)),
                                       WriteIf::version_is(info->version), {});
        if (version) {
          ++done;
        } else if (!asks_for_another_try(version.error())) {
          ASSERT_EQ(version.error().code(), ErrorCode::kConditionFailed) << why(version);
        }
      }
    });
    EXPECT_EQ(read(store, "counter"), std::to_string(kRacers * kUpdatesEach));
  });
}

TEST_P(StoreSuite, AReaderSeesOneWriteOrTheOther) {
  on_store([](ObjectStore& store, sys::World& world) {
    constexpr std::size_t kBytes = 200'000;
    put(store, "a", std::string(kBytes, 'a'));
    on_threads(world, 4, [&](std::size_t racer) {
      const std::string mine(kBytes, static_cast<char>('a' + racer));
      for (int i = 0; i < 5; ++i) {
        if (racer < 2) {
          put(store, "a", mine);
          continue;
        }
        // A read that broke, and found the object replaced when it went on, says so.
        Result<std::string> text = get(store, "a");
        while (!text && asks_for_another_try(text.error())) text = get(store, "a");
        ASSERT_TRUE(text) << why(text);
        EXPECT_EQ(text->size(), kBytes);
        EXPECT_EQ(text->find_first_not_of(text->front()), std::string::npos);
      }
    });
  });
}

// What each kind of call ends with when its context has ended before it began.
inline void expect_all_end_with(ErrorCode code, ObjectStore& store, const std::string& version,
                                const sys::CallContext& ctx) {
  const auto expect = [&](std::string_view call, const auto& result) {
    ASSERT_FALSE(result) << call;
    EXPECT_EQ(result.error().code(), code) << call << ": " << result.error().to_string();
  };
  expect("put", store.put("b", as_bytes("x"), {}, ctx));
  expect("get",
         store.get("a", {}, [](const ObjectInfo&, BytesView) { return Result<void>(); }, ctx));
  expect("head", store.head("a", ctx));
  expect("list", store.list({}, ctx));
  expect("remove", store.remove("a", ctx));
  expect("remove_if", store.remove_if("a", version, ctx));
  expect(
      "start_upload",
      store.start_upload("b", {.size = 1, .part_bytes = store.properties().part_bytes_min}, ctx));
}

TEST_P(StoreSuite, AStoppedCallIsCancelled) {
  on_store([](ObjectStore& store, sys::World&) {
    const std::string version = put(store, "a", "x");
    std::stop_source stop;
    stop.request_stop();
    expect_all_end_with(ErrorCode::kCancelled, store, version, {.stop = stop.get_token()});
    EXPECT_EQ(read(store, "a"), "x");
    EXPECT_EQ(code_of(store.head("b", {})), ErrorCode::kNotFound);
  });
}

TEST_P(StoreSuite, ACallDoesNotBeginAfterItsDeadline) {
  on_store([](ObjectStore& store, sys::World& world) {
    const std::string version = put(store, "a", "x");
    expect_all_end_with(ErrorCode::kDeadlineExceeded, store, version,
                        {.deadline = world.clock.mono_now() - std::chrono::milliseconds(1)});
    EXPECT_EQ(read(store, "a"), "x");
    EXPECT_EQ(code_of(store.head("b", {})), ErrorCode::kNotFound);
  });
}

TEST_P(StoreSuite, SignedUrlsAreWellFormedOrRefused) {
  on_store([](ObjectStore& store, sys::World&) {
    put(store, "a b", "x");
    const auto url = store.signed_url("a b", std::chrono::minutes(10), {});
    if (!store.properties().signed_urls) {
      EXPECT_EQ(code_of(url), ErrorCode::kInvalidArgument);
      return;
    }
    ASSERT_TRUE(url) << why(url);
    const std::string& text = url->reveal();
    EXPECT_TRUE(text.starts_with("http://") || text.starts_with("https://"));
    EXPECT_NE(text.find("a%20b?"), std::string::npos);
    EXPECT_EQ(text.find(' '), std::string::npos);
  });
}

TEST_P(StoreSuite, TheStoreKnowsTheTime) {
  on_store([](ObjectStore& store, sys::World& world) {
    const auto time = store.server_time({});
    ASSERT_TRUE(time) << why(time);
    EXPECT_GT(*time, WallTime(std::chrono::hours(24 * 365 * 50)));
    if (!GetParam().same_clock) return;
    const Duration apart = *time - world.clock.wall_now();
    EXPECT_LT(apart, std::chrono::minutes(10));
    EXPECT_GT(apart, -std::chrono::minutes(10));
  });
}

}  // namespace outlast::store::testing
