// The suite that every store must pass, on the stand-in: called directly, behind a real server, and
// across the simulated network.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sim/simulation.h"
#include "store/gcs/testing/gcs_rig.h"
#include "store/gcs/testing/gcs_stand_in.h"
#include "store/gcs/testing/handler_http_client.h"
#include "store/object_store.h"
#include "store/testing/store_suite.h"
#include "sys/posix_world.h"
#include "sys/world.h"

namespace outlast::store::testing {
namespace {

using gcs::testing::GcsRig;
using gcs::testing::GcsStandIn;
using gcs::testing::HandlerHttpClient;
using gcs::testing::kBucket;
using gcs::testing::kToken;

GcsStandIn::Options stand_in_options(sys::World& world) {
  return {.buckets = {kBucket}, .token = kToken, .wall_now = [&world] {
            return world.clock.wall_now();
          }};
}

// `kept_per_request_max`: how much of each request an upload session keeps.
StoreMaker called_directly(std::string name, std::uint64_t kept_per_request_max) {
  return {.name = std::move(name),
          .run =
              [=](const StoreMaker::Body& body) {
                sys::RealWorld real;
                GcsStandIn::Options options = stand_in_options(real.world());
                options.kept_per_request_max = kept_per_request_max;
                GcsStandIn stand_in(options);
                HandlerHttpClient http(stand_in.handler());
                GcsRig rig(http, real.world().clock, "http://stand-in");
                body(rig.store(), real.world());
              },
          .same_clock = true};
}

StoreMaker behind_a_server() {
  return {.name = "behind a server",
          .run =
              [](const StoreMaker::Body& body) {
                sys::RealWorld real;
                GcsStandIn stand_in(stand_in_options(real.world()));
                const auto server = real.world().http_servers.listen({}, stand_in.handler());
                ASSERT_TRUE(server) << server.error().to_string();
                GcsRig rig(real.world().http, real.world().clock,
                           fmt::format("http://127.0.0.1:{}", (*server)->port()));
                body(rig.store(), real.world());
              },
          .same_clock = true};
}

StoreMaker across_the_simulated_network(std::uint64_t seed) {
  return {.name = fmt::format("simulated, seed {}", seed),
          .run =
              [=](const StoreMaker::Body& body) {
                sim::Simulation simulation({.seed = seed});
                sim::Machine& machine = simulation.add_machine("m1");
                GcsStandIn stand_in({.buckets = {kBucket}, .token = kToken, .wall_now = [&] {
                                       return simulation.clock().wall();
                                     }});
                simulation.network().serve("http://gcs.test", stand_in.handler());
                const sim::Outcome outcome = simulation.run([&] {
                  machine.boot(
                      [&](sys::World& world) {
                        GcsRig rig(world.http, world.clock, "http://gcs.test");
                        body(rig.store(), world);
                      },
                      {});
                });
                EXPECT_TRUE(outcome.ok) << outcome.failure;
              },
          .same_clock = true};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Gcs, StoreSuite,
                         ::testing::Values(called_directly("called directly", 0),
                                           called_directly("stingy sessions", 256U << 10U),
                                           behind_a_server(), across_the_simulated_network(1),
                                           across_the_simulated_network(2)));

}  // namespace outlast::store::testing
