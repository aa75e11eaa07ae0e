// The suites that both worlds must pass, run in the simulated one: what is tested on it is tested
// on something that behaves like the real one.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sim_process.h"
#include "sim/simulation.h"
#include "sys/file_system.h"
#include "sys/process.h"
#include "sys/testing/file_links_suite.h"
#include "sys/testing/file_system_suite.h"
#include "sys/testing/file_watch_suite.h"
#include "sys/testing/http_suite.h"
#include "sys/testing/local_socket_suite.h"
#include "sys/testing/own_signals_suite.h"
#include "sys/testing/process_family_suite.h"
#include "sys/testing/process_suite.h"
#include "sys/testing/threads_suite.h"
#include "sys/testing/world_maker.h"

namespace outlast::sys::testing {
namespace {

WorldMaker simulated_world(std::uint64_t seed, std::function<void(sim::Machine&)> prepare = {}) {
  return {.name = "Seed" + std::to_string(seed), .run = [=](const WorldMaker::Body& body) {
            sim::Simulation simulation({.seed = seed});
            sim::Machine& machine = simulation.add_machine("m1");
            if (prepare) prepare(machine);
            const sim::Outcome outcome = simulation.run([&] {
              machine.boot(
                  [&](World& world) {
                    ASSERT_TRUE(world.files.make_dir("/scratch"));
                    body(world, "/scratch");
                  },
                  {});
            });
            EXPECT_TRUE(outcome.ok) << outcome.failure;
          }};
}

void install_programs(sim::Machine& machine) {
  using sim::make_program;
  const auto install = [&](const std::string& name, const sim::ProcessScript& script) {
    machine.processes().install(name, make_program(machine.clock(), script));
  };
  install("exits-with-3", {.exits_with = 3});
  install("runs-for-an-hour", {.runs_for = std::chrono::hours(1)});
  install("takes-a-moment", {.runs_for = std::chrono::hours(1),
                             .ignores_term_for = std::chrono::milliseconds(50),
                             .exits_after_term_with = 7,
                             .prints = "ready\n"});
  install("ignores-term", {.runs_for = std::chrono::hours(1),
                           .ignores_term_for = std::chrono::hours(1),
                           .prints = "ready\n"});
  machine.processes().install("prints-100-kib", [](sim::SimProcessSelf& self) {
    for (int i = 0; i < 100; ++i) self.out(std::string(1024, 'x'));
    return 0;
  });
}

ProcessWorld simulated_processes(std::uint64_t seed) {
  return {.maker = simulated_world(seed, install_programs),
          .programs = {.exits_with_3 = {"exits-with-3"},
                       .runs_for_an_hour = {"runs-for-an-hour"},
                       .takes_a_moment_after_term = {"takes-a-moment"},
                       .ignores_term = {"ignores-term"},
                       .prints_100_kib = {"prints-100-kib"}}};
}

void install_family(sim::Machine& machine) {
  machine.processes().install("program", [&machine](sim::SimProcessSelf& self) {
    FileSystem& files = machine.world().files;
    const std::string folder = self.spec().argv.at(1);
    const auto read = files.open(folder + "/read", OpenMode::kRead);
    const auto written = files.open(folder + "/open", OpenMode::kTruncate);
    self.handle(SIGUSR1);
    self.out("ready");
    while (self.next_signal({})) self.out("heard");
    return 1;
  });
  machine.processes().install("launcher", [&machine](sim::SimProcessSelf& self) {
    const auto program = machine.world().processes.spawn(
        {.argv = {"program", self.spec().argv.at(1)},
         .out = {.target = Output::Sink([&](std::string_view piece) { self.out(piece); })}});
    return program && (*program)->wait({}) ? 0 : 1;
  });
}

FamilyWorld simulated_family(std::uint64_t seed) {
  return {.maker = simulated_world(seed, install_family),
          .launcher = [](const std::string& scratch) {
            return std::vector<std::string>{"launcher", scratch};
          }};
}

SignalWorld simulated_signals(std::uint64_t seed) {
  const auto machine = std::make_shared<sim::Machine*>();  // shared by the two functions
  return {.maker = simulated_world(seed, [=](sim::Machine& made) { *machine = &made; }),
          .send = [=](int signal_number) { (*machine)->signal(signal_number); }};
}

}  // namespace

// Several seeds: several interleavings of the same test.
INSTANTIATE_TEST_SUITE_P(Simulated, FileSystemSuite, ::testing::Values(simulated_world(1)));
INSTANTIATE_TEST_SUITE_P(Simulated, FileWatchSuite,
                         ::testing::Values(simulated_world(1), simulated_world(2)));
INSTANTIATE_TEST_SUITE_P(Simulated, HttpSuite,
                         ::testing::Values(simulated_world(1), simulated_world(2)));
INSTANTIATE_TEST_SUITE_P(Simulated, LocalSocketSuite,
                         ::testing::Values(simulated_world(1), simulated_world(2),
                                           simulated_world(3)));
INSTANTIATE_TEST_SUITE_P(Simulated, OwnSignalsSuite,
                         ::testing::Values(simulated_signals(1), simulated_signals(2)));
INSTANTIATE_TEST_SUITE_P(Simulated, ProcessFamilySuite,
                         ::testing::Values(simulated_family(1), simulated_family(2)));
INSTANTIATE_TEST_SUITE_P(Simulated, ThreadsSuite,
                         ::testing::Values(simulated_world(1), simulated_world(2),
                                           simulated_world(3), simulated_world(4)));
INSTANTIATE_TEST_SUITE_P(Simulated, ProcessSuite,
                         ::testing::Values(simulated_processes(1), simulated_processes(2),
                                           simulated_processes(3)));

}  // namespace outlast::sys::testing
