#include "agent/snapshot_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/arena.h"
#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "sdk/arena.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sim/workloads/snapshot_client.h"
#include "sys/world.h"

namespace outlast::agent {
namespace {

using sim::SnapshotClient;
using Hello = SnapshotClient::Hello;
using ClientPointer = std::unique_ptr<SnapshotClient>;

constexpr std::uint64_t kStateBytes = 1000;

Bytes state_of(std::uint64_t step) {
  return Bytes(kStateBytes, static_cast<std::byte>(step));
}

class HostTrial {
 public:
  void run(const std::function<void(SnapshotHost&)>& body) {
    const sim::Outcome outcome = simulation_.run([&] {
      machine_.boot(
          [&](sys::World& world) {
            auto host = SnapshotHost::start({.sockets = world.local_sockets,
                                             .memories = world.shared_memories,
                                             .threads = world.threads,
                                             .clock = world.clock},
                                            {.path = "/socket", .leave_code = 75},
                                            {.news = [] {},
                                             .warn =
                                                 [this](std::string kind, std::string sentence) {
                                                   warnings.emplace_back(std::move(kind),
                                                                         std::move(sentence));
                                                 }});
            ASSERT_TRUE(host) << host.error().to_string();
            body(**host);
          },
          {});
    });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
  }

  Result<ClientPointer> come(const Hello& hello) {
    return SnapshotClient::connect(machine_.world(), "/socket", hello, {});
  }
  ClientPointer comes(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes = kStateBytes) {
    auto client = come({.rank = rank, .ranks = ranks, .bytes = bytes});
    EXPECT_TRUE(client) << client.error().to_string();
    return *std::move(client);
  }
  std::string refusal_of(const Hello& hello) {
    const auto client = come(hello);
    return client ? "it was taken in" : client.error().sentence();
  }
  static void save(SnapshotClient& client, std::uint64_t step) {
    EXPECT_TRUE(client.step_done(step, state_of(step), true));
  }
  void pause() { (void)machine_.world().clock.sleep_for(std::chrono::milliseconds(10), {}); }
  void wait_until_all_left(const SnapshotHost& host) {
    while (host.has_guests()) {
      (void)machine_.world().clock.sleep_for(std::chrono::milliseconds(10), {});
    }
  }
  void set_memory(std::uint64_t bytes) { machine_.shared_memories().set_available(bytes); }

  std::vector<std::pair<std::string, std::string>> warnings;

 private:
  sim::Simulation simulation_{sim::KernelOptions{.seed = 7}};
  sim::Machine& machine_ = simulation_.add_machine("m1");
};

TEST(SnapshotHost, RefusesWhoDoesNotFit) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    EXPECT_TRUE(trial.refusal_of({.protocol = 2})
                    .starts_with("the trainer's SDK speaks version 2 of the protocol"));
    EXPECT_TRUE(trial.refusal_of({.rank = 2, .ranks = 2}).starts_with("rank 2 of 2 is none"));
    EXPECT_TRUE(trial.refusal_of({.rank = 0, .ranks = 0}).starts_with("rank 0 of 0 is none"));
    EXPECT_FALSE(host.is_used());
    const ClientPointer first = trial.comes(0, 2);
    EXPECT_TRUE(host.is_used());
    EXPECT_TRUE(
        trial.refusal_of({.rank = 0, .ranks = 2}).starts_with("rank 0 is process 1 already"));
    EXPECT_EQ(trial.refusal_of({.rank = 1, .ranks = 3}),
              "rank 1 says that there are 3 ranks, and others say 2");
    ASSERT_EQ(trial.warnings.size(), 5U);
    EXPECT_EQ(trial.warnings.back().first, "trainer-refused");
    // None of them has taken anybody's place.
    EXPECT_FALSE(host.can_ask());
    EXPECT_EQ(host.what_is_missing(), "rank 1 of 2 is not there");
    const ClientPointer second = trial.comes(1, 2);
    EXPECT_TRUE(host.can_ask());
    EXPECT_EQ(host.what_is_missing(), "");
  });
}

TEST(SnapshotHost, RefusesAnotherNumberOfRanksThanTheStateHas) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    trial.save(*trial.comes(0, 1), 3);
    trial.wait_until_all_left(host);
    ASSERT_TRUE(host.begin_life());
    EXPECT_TRUE(trial.refusal_of({.rank = 0, .ranks = 2})
                    .starts_with("the state to go on from was saved by 1 ranks, and now"));
    EXPECT_EQ(trial.comes(0, 1)->resume()->step, 3U);
  });
}

TEST(SnapshotHost, RefusesAStateThatTheMachineHasNoMemoryFor) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    trial.set_memory(kStateBytes);
    EXPECT_TRUE(trial.refusal_of({.bytes = kStateBytes})
                    .ends_with("take a larger machine, or save to files"));
    trial.wait_until_all_left(host);
    // The place is free again.
    trial.set_memory(4 * kStateBytes);
    EXPECT_EQ(trial.comes(0, 1)->slots(), 2U);
  });
}

TEST(SnapshotHost, SaysThatThereIsOneSlotOnly) {
  HostTrial trial;
  trial.run([&](SnapshotHost&) {
    trial.set_memory(kStateBytes * 3 / 2);
    const ClientPointer client = trial.comes(0, 1);
    EXPECT_EQ(client->slots(), 1U);
    EXPECT_TRUE(client->note().starts_with("memory is short")) << client->note();
    ASSERT_EQ(trial.warnings.size(), 1U);
    EXPECT_EQ(trial.warnings.front().first, "memory-short");
  });
}

TEST(SnapshotHost, AStateThatGrowsBetweenLivesIsKept) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    trial.set_memory(1000 * kStateBytes);
    const ClientPointer smaller = trial.comes(0, 1);
    trial.save(*smaller, 2);
    trial.save(*smaller, 3);
    const auto kept = host.begin_life();
    ASSERT_TRUE(kept);
    const ClientPointer larger = trial.comes(0, 1, 100 * kStateBytes);
    EXPECT_EQ(larger->slots(), 2U);
    EXPECT_EQ(larger->note(), "");
    const auto resumed = larger->resume();
    ASSERT_TRUE(resumed);
    EXPECT_EQ(resumed->step, 3U);
    EXPECT_TRUE(std::ranges::equal(resumed->bytes, state_of(3)));
    EXPECT_EQ(host.newest()->fingerprint(), kept->fingerprint());
    trial.save(*larger, 4);
    EXPECT_EQ(host.newest()->step, 4U);
  });
}

TEST(SnapshotHost, PromisesNoMemoryTwice) {
  HostTrial trial;
  trial.run([&](SnapshotHost&) {
    // Nobody has written into a slot yet when the next one comes.
    trial.set_memory(kStateBytes * 4);
    const ClientPointer first = trial.comes(0, 2);
    const ClientPointer second = trial.comes(1, 2);
    EXPECT_EQ(first->slots(), 1U);
    EXPECT_EQ(second->slots(), 2U);
    EXPECT_TRUE(trial.refusal_of({.rank = 0, .ranks = 2, .bytes = kStateBytes})
                    .starts_with("rank 0 is process"));
  });
}

TEST(SnapshotHost, BelievesOfMetricsWhatFitsIntoAnEntry) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    const ClientPointer client = trial.comes(0, 1);
    client->send(R"({"type":"metrics","values":{"":1,"loss":0.5,"a\nb":1,"why":"text"}})");
    client->send(R"({"type":"metrics","values":{")" + std::string(65, 'x') + R"(":1}})");
    for (int i = 0; i < 300; ++i) {
      client->send(R"({"type":"metrics","values":{"m)" + std::to_string(i) + R"(":1}})");
    }
    client->send(R"({"type":"metrics","values":{"loss":0.25}})");
    client->done();
    while (!host.words().is_done) trial.pause();
    EXPECT_EQ(host.words().metrics.size(), 64U);
    EXPECT_EQ(host.words().metrics.at("loss"), 0.25);
    EXPECT_FALSE(host.words().metrics.contains(""));
    EXPECT_FALSE(host.words().metrics.contains("a\nb"));
  });
}

TEST(SnapshotHost, TheJobIsDoneWhenAllRanksSaySo) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    const ClientPointer first = trial.comes(0, 2);
    const ClientPointer second = trial.comes(1, 2);
    first->done();
    first->progress(7, 9);
    while (!host.words().total) trial.pause();
    EXPECT_FALSE(host.words().is_done);
    second->done();
    while (!host.words().is_done) trial.pause();
  });
}

TEST(SnapshotHost, TheNextLifeBeginsWithWhatAllRanksHave) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    {
      const ClientPointer first = trial.comes(0, 2);
      const ClientPointer second = trial.comes(1, 2);
      trial.save(*first, 3);
      EXPECT_FALSE(host.newest());
      trial.save(*second, 3);
      trial.save(*first, 4);
      ASSERT_TRUE(host.newest());
      EXPECT_EQ(host.newest()->step, 3U);
      EXPECT_EQ(host.words().step, 4U);
    }
    trial.wait_until_all_left(host);
    EXPECT_EQ(host.begin_life()->step, 3U);
    EXPECT_FALSE(host.is_used());
    EXPECT_FALSE(host.words().step);
    // Rank 0 had step 4 as well, and must not go on from it.
    EXPECT_EQ(trial.comes(0, 2)->resume()->step, 3U);
    EXPECT_EQ(trial.comes(1, 2)->resume()->step, 3U);
  });
}

TEST(SnapshotHost, WithoutACommonStepTheNextLifeBeginsWithNothing) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    trial.save(*trial.comes(0, 2), 3);
    trial.save(*trial.comes(1, 2), 4);
    trial.wait_until_all_left(host);
    EXPECT_FALSE(host.begin_life());
    EXPECT_FALSE(trial.comes(0, 2)->resume());
    EXPECT_FALSE(trial.comes(1, 2)->resume());
  });
}

TEST(SnapshotHost, AsksAllRanksForAStepThatNoneHasReached) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    const ClientPointer first = trial.comes(0, 2);
    const ClientPointer second = trial.comes(1, 2);
    trial.save(*first, 6);
    trial.save(*second, 5);
    const std::uint64_t asked = host.ask({});
    EXPECT_EQ(asked % 2, 0U);
    const std::uint64_t step = first->words().load(sdk::kAskStep);
    EXPECT_GT(step, 6U);
    EXPECT_EQ(second->words().load(sdk::kAskStep), step);
    EXPECT_EQ(first->open_ask(step - 1), 0U);
    EXPECT_EQ(first->open_ask(step), asked);
    for (SnapshotClient* const client : {first.get(), second.get()}) {
      EXPECT_TRUE(client->step_done(step, state_of(step), false));
      EXPECT_EQ(client->open_ask(step + 1), 0U);
      EXPECT_FALSE(client->leaves());
    }
    EXPECT_EQ(host.newest()->answers(), asked);
    EXPECT_FALSE(host.ask_again_if_missed());
    const std::uint64_t leave = host.ask({.leave = true});
    EXPECT_EQ(leave, asked + 3);
    EXPECT_TRUE(first->step_done(step + 20, state_of(1), false));
    EXPECT_TRUE(first->leaves());
  });
}

TEST(SnapshotHost, AsksAgainOnceAllHaveAnsweredWithDifferentSteps) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    const ClientPointer first = trial.comes(0, 2);
    const ClientPointer second = trial.comes(1, 2);
    const std::uint64_t asked = host.ask({.from_step = 10});
    EXPECT_TRUE(first->step_done(10, state_of(10), false));
    EXPECT_FALSE(host.ask_again_if_missed());
    EXPECT_TRUE(second->step_done(11, state_of(11), false));
    const auto again = host.ask_again_if_missed();
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, asked + 2);
    const std::uint64_t step = second->words().load(sdk::kAskStep);
    EXPECT_GT(step, 11U);
    EXPECT_FALSE(host.ask_again_if_missed());
    for (SnapshotClient* const client : {first.get(), second.get()}) {
      EXPECT_TRUE(client->step_done(step, state_of(step), false));
    }
    EXPECT_EQ(host.newest()->step, step);
    EXPECT_FALSE(host.ask_again_if_missed());
  });
}

TEST(SnapshotHost, WhoComesLateSeesWhatWasAskedAndWhenTheMachineEnds) {
  HostTrial trial;
  trial.run([&](SnapshotHost& host) {
    const ClientPointer first = trial.comes(0, 2);
    const std::uint64_t asked = host.ask({.leave = true});
    host.set_deadline(WallTime(std::chrono::seconds(1000)));
    const ClientPointer second = trial.comes(1, 2);
    EXPECT_EQ(second->words().load(sdk::kAsk), asked);
    EXPECT_EQ(second->words().load(sdk::kDeadline), 1'000'000U);
    host.set_deadline(std::nullopt);
    EXPECT_EQ(first->words().load(sdk::kDeadline), 0U);
  });
}

}  // namespace
}  // namespace outlast::agent
