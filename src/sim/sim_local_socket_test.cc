#include "sim/sim_local_socket.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/error.h"
#include "sim/kernel.h"
#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "sys/process.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::sim {
namespace {

const std::string kPath = "/socket";

// A trainer that says two things and then waits for an answer, or listens itself.
void install_programs(Machine& machine) {
  machine.processes().install("talks", [&machine](SimProcessSelf&) {
    const auto socket = machine.world().local_sockets.connect(kPath, {});
    if (!socket) return 1;
    (void)(*socket)->send({.text = "one"}, {});
    (void)(*socket)->send({.text = "two"}, {});
    return (*socket)->receive({}) ? 0 : 2;
  });
  machine.processes().install("listens", [&machine](SimProcessSelf& self) {
    const auto listener = machine.world().local_sockets.listen(kPath);
    if (!listener) return 1;
    while (self.next_signal({})) {
    }
    return 2;
  });
}

Outcome run_on_machine(std::uint64_t seed, const std::function<void(sys::World&)>& program) {
  Simulation simulation({.seed = seed});
  Machine& machine = simulation.add_machine("m1");
  install_programs(machine);
  return simulation.run([&] { machine.boot(program, {}); });
}

std::unique_ptr<sys::Process> start(sys::World& world, const std::string& program) {
  auto process = world.processes.spawn({.argv = {program}});
  EXPECT_TRUE(process) << process.error().to_string();
  return process ? *std::move(process) : nullptr;
}

// Connects with a program that has said two things, kills it, and receives them and the end: before
// or after it was killed.
void hear_a_program_that_is_killed(sys::World& world, bool killed_first) {
  const auto listener = world.local_sockets.listen(kPath);
  ASSERT_TRUE(listener) << listener.error().to_string();
  const auto process = start(world, "talks");
  const auto socket = (*listener)->accept({});
  ASSERT_TRUE(socket) << socket.error().to_string();
  EXPECT_EQ((*socket)->peer_pid(), process->pid());
  const auto killer = world.threads.spawn("killer", [&](const std::stop_token&) {
    (void)world.clock.sleep_for(std::chrono::seconds(1), {});
    EXPECT_TRUE(process->signal(SIGKILL));
  });
  if (killed_first) killer->join();
  for (const std::string expected : {"one", "two"}) {
    const auto message = (*socket)->receive({});
    ASSERT_TRUE(message) << message.error().to_string();
    EXPECT_EQ(message->text, expected);
  }
  const auto end = (*socket)->receive({});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), ErrorCode::kUnavailable);
  const auto sent = (*socket)->send({.text = "x"}, {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code(), ErrorCode::kUnavailable);
}

TEST(SimLocalSocketTest, AProgramThatIsKilledIsGoneAndWhatItSentIsReceived) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = run_on_machine(
        seed, [seed](sys::World& world) { hear_a_program_that_is_killed(world, seed % 2 == 0); });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
  }
}

TEST(SimLocalSocketTest, NobodyListensOnceTheListeningProgramHasDied) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = run_on_machine(seed, [](sys::World& world) {
      const auto process = start(world, "listens");
      auto waits = world.local_sockets.connect(kPath, {});
      while (!waits) {
        (void)world.clock.sleep_for(std::chrono::milliseconds(1), {});
        waits = world.local_sockets.connect(kPath, {});
      }
      EXPECT_EQ((*waits)->peer_pid(), process->pid());
      ASSERT_TRUE(process->signal(SIGKILL));
      const auto end = (*waits)->receive({});
      ASSERT_FALSE(end);
      EXPECT_EQ(end.error().code(), ErrorCode::kUnavailable);
      const auto nobody = world.local_sockets.connect(kPath, {});
      ASSERT_FALSE(nobody);
      EXPECT_EQ(nobody.error().code(), ErrorCode::kUnavailable);
      EXPECT_TRUE(world.local_sockets.listen(kPath));
    });
    EXPECT_TRUE(outcome.ok) << outcome.failure;
  }
}

// Wherever the power fails, everybody unwinds, and the next life can listen at the same path.
TEST(SimLocalSocketTest, AMachineMayLosePowerAtAnyCall) {
  const auto talk = [](sys::World& world) {
    const auto listener = world.local_sockets.listen(kPath);
    ASSERT_TRUE(listener) << listener.error().to_string();
    const auto memory = world.shared_memories.make(100);
    const auto process = start(world, "talks");
    const auto socket = (*listener)->accept({});
    if (!memory || !socket) return;
    (void)(*socket)->receive({});
    (void)(*socket)->receive({});
    (void)(*socket)->send({.text = "thanks", .memory = *memory}, {});
    (void)process->wait({});
  };
  int lives = 0;
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  install_programs(machine);
  const Outcome outcome = simulation.run([&] {
    for (std::uint64_t call = 1; lives == 0; ++call) {
      machine.boot(
          [&](sys::World& world) {
            talk(world);
            ++lives;
          },
          {.crash_at_call = call});
      ASSERT_TRUE(machine.wait_until_off({}));
    }
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  EXPECT_EQ(lives, 1);
}

TEST(SimLocalSocketTest, ATestSaysHowMuchMemoryThereIs) {
  Simulation simulation({.seed = 1});
  Machine& machine = simulation.add_machine("m1");
  const Outcome outcome = simulation.run([&] {
    machine.boot(
        [&](sys::World& world) {
          EXPECT_EQ(world.shared_memories.available(), std::nullopt);
          machine.shared_memories().set_available(1000);
          EXPECT_EQ(world.shared_memories.available(), 1000U);
        },
        {});
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

}  // namespace
}  // namespace outlast::sim
