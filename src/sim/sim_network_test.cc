#include "sim/sim_network.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "sys/call_context.h"
#include "sys/http.h"
#include "sys/http_server.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

const std::string kService = "http://store.example";

// A service that counts what it did.
struct Counter {
  int acted = 0;
  sys::HttpHandler handler() {
    return [this](const sys::HttpServerRequest&) {
      ++acted;
      return sys::HttpResponse{.status = 200, .headers = {}, .body = std::string(100'000, 'x')};
    };
  }
};

struct Seen {
  Result<sys::HttpResponse> answer = Error(ErrorCode::kFailed, "not sent");
  std::size_t sunk = 0;
  int acted = 0;
  Duration took{};
};

// What a request with this fate leads to.
Seen send_with(Fate fate, const sys::HttpRequest& request = {}, Duration deadline = {}) {
  Seen seen;
  Simulation simulation({.seed = 7});
  Counter counter;
  simulation.network().serve(kService, counter.handler());
  simulation.network().set_hook([fate](const std::string& from, const sys::HttpRequest&) {
    EXPECT_EQ(from, "m1");
    return fate;
  });
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          sys::HttpRequest sent = request;
          sent.url = kService + "/x";
          sent.sink = [&](const sys::HttpResponse&, BytesView piece) -> Result<void> {
            seen.sunk += piece.size();
            return {};
          };
          const MonoTime start = world.clock.mono_now();
          seen.answer = world.http.send(
              sent, {.deadline = deadline == Duration() ? kNever : start + deadline});
          seen.took = world.clock.mono_now() - start;
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  seen.acted = counter.acted;
  return seen;
}

TEST(SimNetwork, AFateDecidesWhatTheServerAndTheClientSee) {
  const Seen fine = send_with(Fate::kArrives);
  ASSERT_TRUE(fine.answer) << fine.answer.error().to_string();
  EXPECT_EQ(fine.sunk, 100'000U);
  EXPECT_EQ(fine.acted, 1);
  EXPECT_GT(fine.took, Duration::zero());

  const Seen refused = send_with(Fate::kRefused);
  EXPECT_EQ(refused.answer.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(refused.acted, 0);

  const Seen lost = send_with(Fate::kRequestLost);
  EXPECT_EQ(lost.answer.error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(lost.acted, 0);

  const Seen unanswered = send_with(Fate::kAnswerLost);
  EXPECT_EQ(unanswered.answer.error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(unanswered.acted, 1);
  EXPECT_EQ(unanswered.sunk, 0U);

  const Seen cut = send_with(Fate::kAnswerCut);
  EXPECT_EQ(cut.answer.error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(cut.acted, 1);
  EXPECT_LT(cut.sunk, 100'000U);
  EXPECT_GT(cut.sunk, 0U);

  const Seen overloaded = send_with(Fate::kOverloaded);
  ASSERT_TRUE(overloaded.answer);
  EXPECT_EQ(overloaded.answer->status, 503);
  EXPECT_EQ(overloaded.acted, 0);
}

TEST(SimNetwork, AStallEndsWithPatienceOrTheDeadline) {
  const Seen patient = send_with(Fate::kStalls, {.stall_timeout = std::chrono::seconds(30)});
  EXPECT_EQ(patient.answer.error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_GE(patient.took, std::chrono::seconds(30));
  const Seen hasty = send_with(Fate::kStalls, {}, std::chrono::seconds(5));
  EXPECT_EQ(hasty.answer.error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_GE(hasty.took, std::chrono::seconds(5));
}

TEST(SimNetwork, AHandlerThatWaitsIsToldWhenTheClientGivesUp) {
  Simulation simulation({.seed = 9});
  int given_up = 0;
  simulation.network().serve(kService, [&](const sys::HttpServerRequest& request) {
    if (!simulation.clock().sleep_for(std::chrono::hours(1), request.ctx)) ++given_up;
    return sys::HttpResponse{.status = 200};
  });
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          const auto code_of = [&](const sys::HttpRequest& request, const sys::CallContext& ctx) {
            const auto answer = world.http.send(request, ctx);
            EXPECT_FALSE(answer);
            return answer ? ErrorCode::kFailed : answer.error().code();
          };
          const sys::HttpRequest patient = {.url = kService + "/x",
                                            .stall_timeout = std::chrono::hours(2)};
          EXPECT_EQ(code_of({.url = kService + "/x"}, {}), ErrorCode::kUnknownOutcome);
          EXPECT_EQ(
              code_of(patient, {.deadline = world.clock.mono_now() + std::chrono::seconds(5)}),
              ErrorCode::kDeadlineExceeded);
          std::stop_source stop;
          const auto other = world.threads.spawn("other", [&](const std::stop_token&) {
            (void)world.clock.sleep_for(std::chrono::minutes(1), {});
            stop.request_stop();
          });
          EXPECT_EQ(code_of(patient, {.stop = stop.get_token()}), ErrorCode::kCancelled);
          EXPECT_TRUE(world.http.send(patient, {}));
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_EQ(given_up, 3);
}

TEST(SimNetwork, WeatherBringsEveryFate) {
  Simulation simulation({.seed = 3});
  Counter counter;
  simulation.network().serve(kService, counter.handler());
  simulation.network().set_weather({.refused = 0.1,
                                    .request_lost = 0.1,
                                    .answer_lost = 0.1,
                                    .answer_cut = 0.1,
                                    .overloaded = 0.1,
                                    .stalls = 0.1});
  int good = 0;
  int busy = 0;
  int unavailable = 0;
  int unknown = 0;
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          for (int i = 0; i < 300; ++i) {
            const auto answer = world.http.send({.url = kService + "/x"}, {});
            if (answer) {
              ++(answer->status == 200 ? good : busy);
            } else {
              ++(answer.error().code() == ErrorCode::kUnavailable ? unavailable : unknown);
            }
          }
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_GT(good, 60);
  EXPECT_GT(busy, 10);
  EXPECT_GT(unavailable, 10);
  EXPECT_GT(unknown, 60);
  EXPECT_EQ(good + busy + unavailable + unknown, 300);
  EXPECT_GT(counter.acted, good);            // answers were lost
  EXPECT_LT(counter.acted, good + unknown);  // requests too
}

TEST(SimNetwork, AHostIsServedWholeOrByItsPort) {
  Simulation simulation({.seed = 1});
  const auto saying = [](std::string word) {
    return [word](const sys::HttpServerRequest&) {
      return sys::HttpResponse{.status = 200, .headers = {}, .body = word};
    };
  };
  SimNetwork& network = simulation.network();
  network.serve("everywhere.example", saying("everywhere"));
  network.serve("https://tls.example", saying("tls"));
  network.serve("http://gone.example:8080", saying("gone"));
  network.stop_serving("http://gone.example:8080");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"http://everywhere.example/", "everywhere"},
      {"https://everywhere.example:9000/x", "everywhere"},
      {"https://tls.example/", "tls"},
      {"https://tls.example:443/", "tls"},
      {"http://tls.example/", ""},
      {"http://gone.example:8080/", ""},
      {"http://never.example/", ""}};
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          for (const auto& [url, word] : expected) {
            const auto answer = world.http.send({.url = url}, {});
            EXPECT_EQ(answer ? answer->body : "", word) << url;
            if (!answer) {
              EXPECT_EQ(answer.error().code(), ErrorCode::kUnavailable) << url;
            }
          }
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

TEST(SimNetwork, AMachineIsReachedByItsNameWhileItLives) {
  Simulation simulation({.seed = 5});
  Machine& server = simulation.add_machine("server");
  Machine& client = simulation.add_machine("client");
  Counter open;
  Counter local;
  const auto forever = [&](sys::World& world) {
    const auto on_all =
        world.http_servers.listen({.address = "0.0.0.0", .port = 8000}, open.handler());
    const auto on_loopback = world.http_servers.listen({.port = 8001}, local.handler());
    ASSERT_TRUE(on_all);
    ASSERT_TRUE(on_loopback);
    EXPECT_TRUE(world.http.send({.url = "http://localhost:8000/"}, {}));
    EXPECT_TRUE(world.http.send({.url = "http://127.0.0.1:8001/"}, {}));
    (void)world.clock.sleep_for(std::chrono::hours(1), {});
  };
  const Outcome outcome = simulation.run([&] {
    const auto ask = [&](const std::string& url) {
      std::optional<ErrorCode> refused;
      client.boot(
          [&](sys::World& world) {
            const auto answer = world.http.send({.url = url}, {});
            if (!answer) refused = answer.error().code();
          },
          {});
      EXPECT_TRUE(client.wait_until_off({}));
      return refused;
    };
    for (int life = 0; life < 2; ++life) {
      server.boot(forever, {});
      (void)simulation.clock().sleep_for(std::chrono::minutes(1), {});
      EXPECT_EQ(ask("http://server:8000/"), std::nullopt);
      EXPECT_EQ(ask("http://server:8001/"), ErrorCode::kUnavailable);  // on its loopback only
      EXPECT_EQ(ask("http://127.0.0.1:8001/"), ErrorCode::kUnavailable);
      server.crash();
      EXPECT_EQ(ask("http://server:8000/"), ErrorCode::kUnavailable);
      EXPECT_TRUE(server.wait_until_off({}));
    }
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_EQ(open.acted, 4);
  EXPECT_EQ(local.acted, 2);
}

// A machine that loses its power while requests are on their way: each arrived or did not, and
// nothing comes after.
TEST(SimNetwork, AMachineThatIsGoneSendsNothing) {
  bool some_arrived_unanswered = false;
  bool some_never_arrived = false;
  for (int crash_ms = 1; crash_ms <= 60; crash_ms += 2) {
    Simulation simulation({.seed = 1});
    simulation.network().set_weather({.latency_min = std::chrono::milliseconds(10),
                                      .latency_max = std::chrono::milliseconds(10)});
    Machine& machine = simulation.add_machine("m1");
    bool gone = false;
    int sent = 0;
    int acted = 0;
    int returned = 0;
    simulation.network().serve(kService, [&](const sys::HttpServerRequest&) {
      EXPECT_FALSE(gone);
      ++acted;
      return sys::HttpResponse{.status = 200};
    });
    const Outcome outcome = simulation.run([&] {
      machine.boot(
          [&](sys::World& world) {
            for (int i = 0; i < 100; ++i) {
              ++sent;
              if (world.http.send({.url = kService + "/x"}, {})) ++returned;
            }
          },
          {});
      (void)simulation.clock().sleep_for(std::chrono::milliseconds(crash_ms), {});
      machine.crash();
      gone = true;
      (void)simulation.clock().sleep_for(std::chrono::hours(1), {});
    });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
    EXPECT_EQ(sent, returned + 1);
    EXPECT_GE(acted, returned);
    EXPECT_LE(acted, sent);
    (acted > returned ? some_arrived_unanswered : some_never_arrived) = true;
  }
  EXPECT_TRUE(some_arrived_unanswered);
  EXPECT_TRUE(some_never_arrived);
}

TEST(SimNetwork, OneSeedIsOneHistory) {
  const auto history = [](std::uint64_t seed) {
    Simulation simulation({.seed = seed});
    Counter counter;
    simulation.network().serve(kService, counter.handler());
    simulation.network().set_weather({.answer_lost = 0.2, .answer_cut = 0.2});
    Machine& one = simulation.add_machine("m1");
    Machine& two = simulation.add_machine("m2");
    const auto program = [](sys::World& world) {
      for (int i = 0; i < 20; ++i) (void)world.http.send({.url = kService + "/x"}, {});
    };
    return simulation
        .run([&] {
          one.boot(program, {.crash_per_call = 0.01});
          two.boot(program, {});
        })
        .trace_hash;
  };
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

}  // namespace
}  // namespace outlast::sim
