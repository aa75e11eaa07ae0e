#include "cloud/caching_credentials.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "cloud/testing/fake_world.h"
#include "sim/simulation.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::cloud {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::FakeWorld;
using Fetch = std::function<Result<Fetched<BearerToken>>(const sys::CallContext&)>;

class FunctionFetcher : public CredentialFetcher<BearerToken> {
 public:
  explicit FunctionFetcher(Fetch fetch) : fetch_(std::move(fetch)) {}
  Result<Fetched<BearerToken>> fetch(const sys::CallContext& ctx) override { return fetch_(ctx); }

 private:
  Fetch fetch_;
};

std::unique_ptr<CachingCredentials<BearerToken>> make(sys::World& world, Fetch fetch) {
  return std::make_unique<CachingCredentials<BearerToken>>(
      std::make_unique<FunctionFetcher>(std::move(fetch)), world.clock, world.threads);
}

Fetched<BearerToken> token(std::string text, std::optional<Duration> lifetime) {
  return {.value = {.token = Secret(std::move(text))}, .lifetime = lifetime, .origin = "a test"};
}

std::string got(CachingCredentials<BearerToken>& credentials) {
  const Result<BearerToken> value = credentials.get({});
  return value ? value->token.reveal() : "error: " + value.error().to_string();
}

TEST(CachingCredentials, KeepsWhatDoesNotExpire) {
  FakeWorld fake;
  int fetches = 0;
  const auto credentials = make(fake.world(), [&](const auto&) {
    return token("t" + std::to_string(++fetches), std::nullopt);
  });
  EXPECT_EQ(credentials->origin(), "");
  EXPECT_EQ(got(*credentials), "t1");
  fake.clock.pass(hours(10'000));
  EXPECT_EQ(got(*credentials), "t1");
  EXPECT_EQ(credentials->origin(), "a test");
}

TEST(CachingCredentials, FetchesAgainBeforeTheyExpire) {
  FakeWorld fake;
  int fetches = 0;
  const auto credentials = make(
      fake.world(), [&](const auto&) { return token("t" + std::to_string(++fetches), hours(1)); });
  EXPECT_EQ(got(*credentials), "t1");
  fake.clock.pass(minutes(54));
  EXPECT_EQ(got(*credentials), "t1");
  fake.clock.pass(minutes(1));
  EXPECT_EQ(got(*credentials), "t2");
}

TEST(CachingCredentials, ShortLivedOnesAreKeptForHalfTheirLife) {
  FakeWorld fake;
  int fetches = 0;
  const auto credentials = make(fake.world(), [&](const auto&) {
    return token("t" + std::to_string(++fetches), seconds(60));
  });
  EXPECT_EQ(got(*credentials), "t1");
  fake.clock.pass(seconds(29));
  EXPECT_EQ(got(*credentials), "t1");
  fake.clock.pass(seconds(1));
  EXPECT_EQ(got(*credentials), "t2");
}

TEST(CachingCredentials, ALaptopThatSleptFetchesAgain) {
  FakeWorld fake;
  int fetches = 0;
  const auto credentials = make(
      fake.world(), [&](const auto&) { return token("t" + std::to_string(++fetches), hours(1)); });
  EXPECT_EQ(got(*credentials), "t1");
  fake.clock.wall += hours(2);  // the steady clock stood still
  EXPECT_EQ(got(*credentials), "t2");
}

TEST(CachingCredentials, AClockSetBackDoesNotProlongThem) {
  FakeWorld fake;
  int fetches = 0;
  const auto credentials = make(
      fake.world(), [&](const auto&) { return token("t" + std::to_string(++fetches), hours(1)); });
  EXPECT_EQ(got(*credentials), "t1");
  fake.clock.mono += hours(1);
  fake.clock.wall -= hours(5);
  EXPECT_EQ(got(*credentials), "t2");
}

TEST(CachingCredentials, TheOldOnesServeWhileARefreshFails) {
  FakeWorld fake;
  int fetches = 0;
  bool works = true;
  const auto credentials = make(fake.world(), [&](const auto&) -> Result<Fetched<BearerToken>> {
    ++fetches;
    if (!works) return Error(ErrorCode::kUnavailable, "the issuer is away");
    return token("t" + std::to_string(fetches), hours(1));
  });
  EXPECT_EQ(got(*credentials), "t1");
  works = false;
  fake.clock.pass(minutes(56));
  EXPECT_EQ(got(*credentials), "t1");
  EXPECT_EQ(fetches, 2);
  EXPECT_EQ(got(*credentials), "t1");
  EXPECT_EQ(fetches, 2) << "the next try is a little later";
  fake.clock.pass(seconds(31));
  EXPECT_EQ(got(*credentials), "t1");
  EXPECT_EQ(fetches, 3);
  fake.clock.pass(minutes(4));
  EXPECT_EQ(got(*credentials), "error: the issuer is away");
  works = true;
  EXPECT_EQ(got(*credentials), "t5");
}

TEST(CachingCredentials, WhatWasForgottenIsNotGivenAgain) {
  FakeWorld fake;
  int fetches = 0;
  const auto credentials = make(fake.world(), [&](const auto&) -> Result<Fetched<BearerToken>> {
    if (++fetches == 2) return Error(ErrorCode::kPermissionDenied, "no more");
    return token("t" + std::to_string(fetches), hours(1));
  });
  EXPECT_EQ(got(*credentials), "t1");
  credentials->forget();
  EXPECT_EQ(got(*credentials), "error: no more");
  EXPECT_EQ(got(*credentials), "t3");
}

// Runs `threads` threads that each call get() once, on a simulated machine, for several schedules.
struct Crowd {
  int fetches = 0;
  std::vector<std::string> answers;
};
Crowd ask_at_once(std::uint64_t seed, bool fails) {
  Crowd crowd;
  sim::Simulation simulation({.seed = seed});
  sim::Machine& machine = simulation.add_machine("m");
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const auto credentials =
              make(world, [&](const sys::CallContext& ctx) -> Result<Fetched<BearerToken>> {
                ++crowd.fetches;
                OUTLAST_TRY(world.clock.sleep_for(seconds(5), ctx));
                if (fails) return Error(ErrorCode::kPermissionDenied, "refused");
                return token("t" + std::to_string(crowd.fetches), hours(1));
              });
          std::vector<std::unique_ptr<sys::Thread>> threads;
          for (int i = 0; i < 16; ++i) {
            threads.push_back(world.threads.spawn("asks", [&](const std::stop_token&) {
              crowd.answers.push_back(got(*credentials));
            }));
          }
          for (const auto& thread : threads) thread->join();
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return crowd;
}

TEST(CachingCredentials, SixteenThreadsCauseOneFetch) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Crowd crowd = ask_at_once(seed, false);
    EXPECT_EQ(crowd.fetches, 1) << "seed " << seed;
    EXPECT_EQ(crowd.answers, std::vector<std::string>(16, "t1")) << "seed " << seed;
  }
}

TEST(CachingCredentials, ThoseWhoWaitShareTheFailure) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Crowd crowd = ask_at_once(seed, true);
    EXPECT_EQ(crowd.fetches, 1) << "seed " << seed;
    EXPECT_EQ(crowd.answers, std::vector<std::string>(16, "error: refused")) << "seed " << seed;
  }
}

TEST(CachingCredentials, OneWhoGivesUpDoesNotFailTheOthers) {
  std::vector<std::string> answers;
  int fetches = 0;
  sim::Simulation simulation({.seed = 7});
  sim::Machine& machine = simulation.add_machine("m");
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const auto credentials =
              make(world, [&](const sys::CallContext& ctx) -> Result<Fetched<BearerToken>> {
                ++fetches;
                OUTLAST_TRY(world.clock.sleep_for(seconds(5), ctx));
                return token("t" + std::to_string(fetches), hours(1));
              });
          const auto hasty = world.threads.spawn("hasty", [&](const std::stop_token&) {
            const Result<BearerToken> value =
                credentials->get({.deadline = world.clock.mono_now() + seconds(1)});
            ASSERT_FALSE(value.has_value());
            EXPECT_EQ(value.error().code(), ErrorCode::kDeadlineExceeded);
          });
          // Comes while the hasty one fetches.
          EXPECT_TRUE(world.clock.sleep_for(std::chrono::milliseconds(500), {}).has_value());
          answers.push_back(got(*credentials));
          hasty->join();
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_EQ(fetches, 2);
  EXPECT_EQ(answers, std::vector<std::string>{"t2"});
}

TEST(CachingCredentials, NobodyWaitsForARefreshWhileTheOldOnesAreGood) {
  sim::Simulation simulation({.seed = 3});
  sim::Machine& machine = simulation.add_machine("m");
  std::string meanwhile;
  int fetches = 0;
  const sim::Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const auto credentials =
              make(world, [&](const sys::CallContext& ctx) -> Result<Fetched<BearerToken>> {
                if (++fetches > 1) OUTLAST_TRY(world.clock.sleep_for(seconds(20), ctx));
                return token("t" + std::to_string(fetches), hours(1));
              });
          EXPECT_EQ(got(*credentials), "t1");
          EXPECT_TRUE(world.clock.sleep_for(minutes(56), {}).has_value());
          const auto refresher = world.threads.spawn(
              "refresher", [&](const std::stop_token&) { EXPECT_EQ(got(*credentials), "t2"); });
          EXPECT_TRUE(world.clock.sleep_for(seconds(10), {}).has_value());
          meanwhile = got(*credentials);
          refresher->join();
          EXPECT_EQ(got(*credentials), "t2");
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_EQ(meanwhile, "t1");
  EXPECT_EQ(fetches, 2);
}

}  // namespace
}  // namespace outlast::cloud
