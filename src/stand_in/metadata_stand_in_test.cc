// What the stand-ins have in common: requests that wait, faults, and scripts, in simulation.
#include "stand_in/metadata_stand_in.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "stand_in/happening.h"
#include "stand_in/script.h"
#include "stand_in/script_player.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/posix_world.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::stand_in {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string kWhere = "http://169.254.169.254";
const std::string kPreempted = kWhere + "/computeMetadata/v1/instance/preempted";

// A simulated machine that reaches a stand-in.
class Rig {
 public:
  explicit Rig(const std::string& cloud) : cloud_(cloud) {
    auto made = make_stand_in(cloud, simulation_.clock(), simulation_.threads());
    EXPECT_TRUE(made) << made.error().to_string();
    stand_in_ = *std::move(made);
    simulation_.network().serve(kWhere, stand_in_->handler());
  }

  MetadataStandIn& stand_in() { return *stand_in_; }
  sim::Simulation& simulation() { return simulation_; }

  void run(const std::function<void(sys::World&)>& body) {
    sim::Machine& machine = simulation_.add_machine("m1");
    const sim::Outcome outcome = simulation_.run([&] { machine.boot(body, {}); });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
  }
  void happen(std::string_view words) {
    const auto happening = parse_happening(words, cloud_);
    ASSERT_TRUE(happening) << happening.error().to_string();
    EXPECT_TRUE(stand_in_->happen(*happening));
  }

 private:
  const std::string cloud_;
  sim::Simulation simulation_{{.seed = 11}};
  std::unique_ptr<MetadataStandIn> stand_in_;
};

Result<sys::HttpResponse> ask(sys::World& world, std::string url, Duration patience = minutes(10)) {
  return world.http.send({.url = std::move(url),
                          .headers = {{"Metadata-Flavor", "Google"}, {"Metadata", "true"}},
                          .direct = true,
                          .stall_timeout = patience},
                         {});
}

std::string body_of(const Result<sys::HttpResponse>& answer) {
  return answer ? fmt::format("{} {}", answer->status, answer->body) : answer.error().to_string();
}

std::string etag_of(const Result<sys::HttpResponse>& answer) {
  return answer ? std::string(sys::find_header(answer->headers, "ETag").value_or("")) : "";
}

TEST(StandInLongPoll, AChangeWakesWhoeverWaitsForIt) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    const std::string etag = etag_of(ask(world, kPreempted));
    std::vector<std::string> heard(2);
    std::vector<MonoTime> when(2);
    const auto wait = [&](std::size_t i, const std::string& query) {
      return world.threads.spawn("waits", [&, i, query](const std::stop_token&) {
        heard[i] = body_of(ask(world, kPreempted + query));
        when[i] = world.clock.mono_now();
      });
    };
    const auto knows = wait(0, "?wait_for_change=true&timeout_sec=600&last_etag=" + etag);
    const auto comes = wait(1, "?wait_for_change=true");
    (void)world.clock.sleep_for(seconds(30), {});
    const MonoTime flip = world.clock.mono_now();
    rig.stand_in().announce(seconds(30));
    for (const auto* thread : {&knows, &comes}) (*thread)->join();
    EXPECT_EQ(heard, (std::vector<std::string>{"200 TRUE", "200 TRUE"}));
    for (const MonoTime moment : when) EXPECT_LT(moment - flip, seconds(1));
  });
}

TEST(StandInLongPoll, WhoKnowsSomethingElseIsAnsweredAtOnce) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    const MonoTime start = world.clock.mono_now();
    const std::string old = etag_of(ask(world, kPreempted));
    rig.stand_in().announce(seconds(30));
    for (const std::string& known : {std::string("NONE"), std::string("0"), old}) {
      EXPECT_EQ(body_of(ask(world, kPreempted + "?wait_for_change=true&last_etag=" + known)),
                "200 TRUE");
    }
    EXPECT_LT(world.clock.mono_now() - start, seconds(1));
  });
}

TEST(StandInLongPoll, AnotherValueThatChangesIsNoChange) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    const auto other = world.threads.spawn("other", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(seconds(5), {});
      rig.happen("maintenance MIGRATE_ON_HOST_MAINTENANCE");
    });
    const MonoTime start = world.clock.mono_now();
    EXPECT_EQ(body_of(ask(world, kPreempted + "?wait_for_change=true&timeout_sec=60")),
              "200 FALSE");
    EXPECT_GE(world.clock.mono_now() - start, seconds(60));
    other->join();
    EXPECT_EQ(body_of(ask(world, kWhere + "/computeMetadata/v1/instance/maintenance-event")),
              "200 MIGRATE_ON_HOST_MAINTENANCE");
  });
}

TEST(StandInLongPoll, TheTimeoutAnswersWithTheUnchangedValue) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    const std::string etag = etag_of(ask(world, kPreempted));
    const MonoTime start = world.clock.mono_now();
    const auto answer =
        ask(world, kPreempted + "?wait_for_change=true&timeout_sec=60&last_etag=" + etag);
    EXPECT_EQ(body_of(answer), "200 FALSE");
    EXPECT_EQ(etag_of(answer), etag);
    EXPECT_GE(world.clock.mono_now() - start, seconds(60));
  });
}

TEST(StandInLongPoll, AFolderIsWaitedForWhole) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    const auto other = world.threads.spawn("other", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(seconds(5), {});
      rig.stand_in().announce(seconds(30));
    });
    const auto answer =
        ask(world, kWhere + "/computeMetadata/v1/instance/?recursive=true&wait_for_change=true");
    EXPECT_NE(body_of(answer).find(R"("preempted":"TRUE")"), std::string::npos);
    other->join();
  });
}

TEST(StandInLongPoll, TheEndOfTheStandInAnswersEverybody) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    const auto other = world.threads.spawn("other", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(seconds(5), {});
      rig.stand_in().release_waiting();
    });
    const MonoTime start = world.clock.mono_now();
    EXPECT_EQ(body_of(ask(world, kPreempted + "?wait_for_change=true")), "200 FALSE");
    EXPECT_LT(world.clock.mono_now() - start, minutes(1));
    EXPECT_EQ(body_of(ask(world, kPreempted + "?wait_for_change=true")), "200 FALSE");
    other->join();
  });
}

TEST(StandInLongPoll, OnARealSocketTooAndItsServerCanEnd) {
  sys::RealWorld real;
  sys::World& world = real.world();
  auto stand_in = make_stand_in("gce", world.clock, world.threads);
  ASSERT_TRUE(stand_in);
  auto server = world.http_servers.listen({}, (*stand_in)->handler());
  ASSERT_TRUE(server) << server.error().to_string();
  const std::string url =
      fmt::format("http://127.0.0.1:{}/computeMetadata/v1/instance/preempted", (*server)->port());
  const std::string etag = etag_of(ask(world, url));
  std::string heard;
  const auto waits = world.threads.spawn("waits", [&](const std::stop_token&) {
    heard = body_of(ask(world, url + "?wait_for_change=true&last_etag=" + etag));
  });
  (*stand_in)->announce(seconds(30));
  waits->join();
  EXPECT_EQ(heard, "200 TRUE");
  const auto broken = world.threads.spawn(
      "broken", [&](const std::stop_token&) { (void)ask(world, url + "?wait_for_change=true"); });
  server->reset();
  broken->join();
}

TEST(StandInFaults, EachDoesWhatItSaysUntilAllIsWell) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    rig.happen("fail 503");
    EXPECT_TRUE(body_of(ask(world, kPreempted)).starts_with("503 "));
    rig.happen("html");
    EXPECT_TRUE(body_of(ask(world, kPreempted)).starts_with("200 <!DOCTYPE html>"));
    rig.happen("half");
    const auto half = ask(world, kPreempted);
    ASSERT_FALSE(half);
    EXPECT_EQ(half.error().code(), ErrorCode::kUnknownOutcome);
    rig.happen("well");
    EXPECT_EQ(body_of(ask(world, kPreempted)), "200 FALSE");
  });
}

TEST(StandInFaults, AHangingRequestIsGivenUpByTheClientOrEndsWithTheFault) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    rig.happen("hang");
    const auto hung = ask(world, kPreempted, seconds(5));
    ASSERT_FALSE(hung);
    EXPECT_EQ(hung.error().code(), ErrorCode::kUnknownOutcome);
    const auto other = world.threads.spawn("other", [&](const std::stop_token&) {
      (void)world.clock.sleep_for(minutes(1), {});
      rig.happen("well");
    });
    EXPECT_EQ(body_of(ask(world, kPreempted)), "200 FALSE");
    other->join();
    rig.happen("hang for 30s");
    EXPECT_EQ(body_of(ask(world, kPreempted)), "200 FALSE");
  });
}

TEST(StandInFaults, TheyCanMeetSomePathsOneRequestOrLastAWhile) {
  Rig rig("azure");
  const std::string events = kWhere + "/metadata/scheduledevents?api-version=2020-07-01";
  const std::string instance = kWhere + "/metadata/instance/compute?api-version=2021-02-01";
  rig.run([&](sys::World& world) {
    rig.happen("slow 2m once on /metadata/scheduledevents");
    MonoTime start = world.clock.mono_now();
    EXPECT_TRUE(body_of(ask(world, instance)).starts_with("200 "));
    EXPECT_LT(world.clock.mono_now() - start, seconds(1));
    EXPECT_TRUE(body_of(ask(world, events)).starts_with("200 "));
    EXPECT_GE(world.clock.mono_now() - start, minutes(2));
    start = world.clock.mono_now();
    EXPECT_TRUE(body_of(ask(world, events)).starts_with("200 "));
    EXPECT_LT(world.clock.mono_now() - start, seconds(1));
    rig.happen("fail 410 for 70s");
    EXPECT_TRUE(body_of(ask(world, events)).starts_with("410 "));
    (void)world.clock.sleep_for(seconds(71), {});
    EXPECT_TRUE(body_of(ask(world, events)).starts_with("200 "));
  });
}

TEST(StandInFaults, WhatACloudDoesNotKnowIsRefused) {
  Rig rig("gce");
  rig.run([&](sys::World&) {
    const Result<void> taken = rig.stand_in().happen({.word = "rebalance"});
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().to_string(), "'rebalance' is nothing that can happen to gce");
  });
  EXPECT_FALSE(
      make_stand_in("oracle", rig.simulation().clock(), rig.simulation().threads()).has_value());
}

TEST(ScriptPlayer, PlaysByTheClockAndEndsWhenItsOwnerDoes) {
  Rig rig("gce");
  rig.run([&](sys::World& world) {
    const auto script =
        parse_script("10s preempt\n25s withdraw\n30s fail 503 for 5s\n10h preempt", "gce");
    ASSERT_TRUE(script) << script.error().to_string();
    std::vector<std::string> told;
    {
      const MonoTime start = world.clock.mono_now();
      const ScriptPlayer player(
          *script, rig.stand_in(), world.clock, world.threads,
          [&](const Happening& happening, const Result<void>& taken) {
            EXPECT_TRUE(taken);
            const auto after = std::chrono::duration_cast<seconds>(world.clock.mono_now() - start);
            told.push_back(fmt::format("{} {}", after.count(), happening.word));
          });
      const auto said_at = [&](Duration at) {
        (void)world.clock.sleep_until(start + at, {});
        return body_of(ask(world, kPreempted)).substr(0, 5);
      };
      EXPECT_EQ(said_at(seconds(5)), "200 F");
      EXPECT_EQ(said_at(seconds(12)), "200 T");
      EXPECT_EQ(said_at(seconds(27)), "200 F");
      EXPECT_EQ(said_at(seconds(32)), "503 S");
      EXPECT_EQ(said_at(seconds(40)), "200 F");
    }
    EXPECT_EQ(told, (std::vector<std::string>{"10 preempt", "25 withdraw", "30 fail"}));
    EXPECT_EQ(body_of(ask(world, kPreempted)), "200 FALSE");
  });
}

}  // namespace
}  // namespace outlast::stand_in
