#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "sim/simulation.h"
#include "sys/world.h"

namespace outlast::store::testing {

// Runs `body` on a simulated machine that stays on: waits cost nothing, and a seed is one order of
// events.
inline void in_simulation(std::uint64_t seed, const std::function<void(sys::World&)>& body) {
  sim::Simulation simulation({.seed = seed});
  sim::Machine& machine = simulation.add_machine("m1");
  const sim::Outcome outcome = simulation.run([&] { machine.boot(body, {}); });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

}  // namespace outlast::store::testing
