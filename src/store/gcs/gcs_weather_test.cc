// The store behind retries, across a network that refuses, loses, cuts and stalls, on machines that
// lose their power: what was promised holds, and what is not known is said to be unknown.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "sim/simulation.h"
#include "store/gcs/testing/gcs_rig.h"
#include "store/gcs/testing/gcs_stand_in.h"
#include "store/gcs/testing/handler_http_client.h"
#include "store/object_store.h"
#include "store/retrying_store.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::store::gcs::testing {
namespace {

constexpr const char* kEndpoint = "http://gcs.test";
constexpr std::uint64_t kPart = 512U << 10U;

sim::Weather foul() {
  return {.refused = 0.05,
          .request_lost = 0.1,
          .answer_lost = 0.1,
          .answer_cut = 0.05,
          .overloaded = 0.05,
          .stalls = 0.02};
}

std::string content_of(std::uint64_t seed, std::size_t bytes) {
  Random random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random.next());
  return text;
}

// One history: a stand-in, the network before it, and a look at it past the network.
struct Sky {
  explicit Sky(std::uint64_t seed)
      : simulation({.seed = seed}),
        stand_in({.buckets = {kBucket},
                  .token = kToken,
                  .wall_now = [this] { return simulation.clock().wall(); },
                  .kept_per_request_max = seed % 3 == 0 ? 256U << 10U : 0}),
        direct(stand_in.handler()),
        witness(direct, simulation.clock(), "http://direct") {
    simulation.network().serve(kEndpoint, stand_in.handler());
    simulation.network().set_weather(foul());
  }

  // What is really stored. Only where sys calls may be made.
  std::optional<std::string> stored(const std::string& key) {
    std::string text;
    const auto read = witness.store().get(key, {},
                                          [&](const ObjectInfo&, BytesView piece) -> Result<void> {
                                            text += as_text(piece);
                                            return {};
                                          },
                                          {});
    return read ? std::optional(text) : std::nullopt;
  }

  sim::Simulation simulation;
  GcsStandIn stand_in;
  HandlerHttpClient direct;
  GcsRig witness;
};

class GcsWeather : public ::testing::TestWithParam<std::uint64_t> {};

// Puts the missing parts and completes.
Result<std::string> carry_on(Upload& upload, const UploadPlan& plan, std::string_view text) {
  for (std::uint64_t i = upload.stored_parts().size(); i < plan.part_count(); ++i) {
    OUTLAST_TRY(
        upload.put_part(i, as_bytes(text.substr(i * plan.part_bytes, plan.bytes_of(i))), {}));
  }
  return upload.complete({});
}

TEST_P(GcsWeather, AnUploadEndsWholeOrHonestly) {
  Sky sky(GetParam());
  const std::string text = content_of(GetParam(), 3 * kPart + 12'345);
  const UploadPlan plan{.size = text.size(), .part_bytes = kPart, .condition = WriteIf::absent()};
  sim::Machine& machine = sky.simulation.add_machine("m1");
  const sim::Outcome outcome = sky.simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          GcsRig rig(world.http, world.clock, kEndpoint);
          RetryingStore store(rig.store(), world.clock, world.random.fork());
          auto upload = store.start_upload("big", plan, {});
          ASSERT_TRUE(upload) << upload.error().to_string();
          const auto version = carry_on(**upload, plan, text);
          const auto now = sky.stored("big");
          if (version) {
            EXPECT_TRUE(now && *now == text);
            EXPECT_EQ(sky.witness.store().head("big", {})->version, *version);
          } else {
            EXPECT_EQ(version.error().code(), ErrorCode::kUnknownOutcome)
                << version.error().to_string();
            EXPECT_TRUE(!now || *now == text);
          }
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

TEST_P(GcsWeather, AnUploadOutlivesItsMachine) {
  Sky sky(GetParam());
  const std::string text = content_of(GetParam(), 2 * kPart + 300'000);
  const UploadPlan plan{.size = text.size(), .part_bytes = kPart};
  sim::Machine& machine = sky.simulation.add_machine("m1");
  std::optional<Secret<std::string>> token;  // what a machine would write down before it begins
  std::optional<std::string> version;
  const auto live = [&](sys::World& world) {
    GcsRig rig(world.http, world.clock, kEndpoint);
    RetryingStore store(rig.store(), world.clock, world.random.fork());
    auto upload =
        token ? store.resume_upload("big", plan, *token, {}) : store.start_upload("big", plan, {});
    ASSERT_TRUE(upload) << upload.error().to_string();
    token = (*upload)->token();
    const auto done = carry_on(**upload, plan, text);
    ASSERT_TRUE(done) << done.error().to_string();
    version = *done;
  };
  const sim::Outcome outcome = sky.simulation.run([&] {
    for (int life = 0; life < 40 && !version; ++life) {
      machine.boot(live, {.crash_per_call = life < 30 ? 0.04 : 0});
      ASSERT_TRUE(machine.wait_until_off({}));
    }
    ASSERT_TRUE(version);
    EXPECT_TRUE(sky.stored("big") == text);
    EXPECT_EQ(sky.witness.store().head("big", {})->version, *version);
    EXPECT_EQ(sky.stand_in.object_count(kBucket), 1U);
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

TEST_P(GcsWeather, APutIfAbsentIsWonOnceAndNeverByTheWrongOne) {
  Sky sky(GetParam());
  int claims = 0;
  std::string winner;
  const sim::Outcome outcome = sky.simulation.run([&] {
    std::vector<sim::Machine*> machines;
    for (int i = 0; i < 4; ++i) {
      machines.push_back(&sky.simulation.add_machine(fmt::format("m{}", i)));
      machines.back()->boot(
          [&, i](sys::World& world) {
            GcsRig rig(world.http, world.clock, kEndpoint);
            RetryingStore store(rig.store(), world.clock, world.random.fork());
            const std::string mine = fmt::format("machine {}", i);
            const auto put = store.put("log/1", as_bytes(mine), WriteIf::absent(), {});
            if (put) {
              ++claims;
              winner = mine;
            } else if (put.error().code() == ErrorCode::kAlreadyExists) {
              EXPECT_NE(sky.stored("log/1"), mine);
            } else {
              EXPECT_EQ(put.error().code(), ErrorCode::kUnknownOutcome) << put.error().to_string();
            }
          },
          {});
    }
    for (sim::Machine* const machine : machines) ASSERT_TRUE(machine->wait_until_off({}));
    const auto stored = sky.stored("log/1");
    ASSERT_TRUE(stored);
    EXPECT_LE(claims, 1);
    EXPECT_TRUE(claims == 0 || *stored == winner) << *stored;
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

INSTANTIATE_TEST_SUITE_P(Seeds, GcsWeather, ::testing::Range<std::uint64_t>(1, 11));

}  // namespace
}  // namespace outlast::store::gcs::testing
