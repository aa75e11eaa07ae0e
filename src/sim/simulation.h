#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "sim/disk.h"
#include "sim/kernel.h"
#include "sim/sim_file_system.h"
#include "sim/sim_file_watch.h"
#include "sim/sim_local_socket.h"
#include "sim/sim_network.h"
#include "sim/sim_own_signals.h"
#include "sim/sim_process.h"
#include "sim/sim_process_family.h"
#include "sim/sim_shared_memory.h"
#include "sim/sim_surroundings.h"
#include "sim/sim_threads.h"
#include "sys/world.h"

namespace outlast::sim {

// A machine that can be switched on, lose its power, and be switched on again with what its disk
// had synced. Everything that runs on it uses world(). Confined to the simulation.
class Machine {
 public:
  Machine(Kernel& kernel, SimNetwork& network, std::string name, std::uint64_t disk_bytes);

  const std::string& name() const { return name_; }
  sys::World& world() { return world_; }
  // The simulated parts, for installing programs, faults and clock jumps.
  SimClock& clock() { return clock_; }
  SimFileSystem& files() { return files_; }
  SimFileWatches& file_watches() { return file_watches_; }
  SimProcessLauncher& processes() { return processes_; }
  SimEnvironment& environment() { return environment_; }
  SimConsole& console() { return console_; }
  SimSharedMemories& shared_memories() { return shared_memories_; }
  Disk& disk() { return disk_; }

  // How a life may end by itself.
  struct Hazard {
    double crash_per_call = 0;                        // at any sys call
    std::optional<std::uint64_t> crash_at_call = {};  // or at exactly this one of the life, from 1
  };
  // Begins a life: `program` runs as its first thread. The machine is off again when the program
  // and all its threads have ended, or after crash(). It must be off.
  void boot(std::function<void(sys::World&)> program, const Hazard& hazard);
  // The power fails: unsynced data is lost now, threads unwind at their next sys call.
  void crash();
  // A signal to the program that the machine was booted with. Unless the program listens for it
  // (sys::OwnSignals) it is killed, and the machine is off when it has unwound: what it started
  // dies with it, but nothing that it wrote is lost.
  void signal(int signal_number);
  bool is_on() const;
  // Waits, from outside, until the machine is off. False if it did not come to that by the
  // deadline.
  bool wait_until_off(const sys::CallContext& ctx);
  // Sys calls made in the life that is on, or was last.
  std::uint64_t calls() const { return life_ ? life_->calls : 0; }

 private:
  Kernel& kernel_;
  const std::string name_;
  Disk disk_;
  SimClock clock_;
  SimThreads threads_;
  SimFileSystem files_;
  SimFileWatches file_watches_;
  SimOwnSignals own_signals_;
  SimProcessLauncher processes_;
  SimProcessFamilies process_families_;
  SimEnvironment environment_;
  SimConsole console_;
  SimHttpClient http_;
  SimHttpServers http_servers_;
  SimLocalSockets local_sockets_;
  SimSharedMemories shared_memories_;
  Random random_;
  sys::World world_;
  std::vector<std::unique_ptr<Domain>> lives_;  // threads of dead lives may still unwind
  Domain* life_ = nullptr;
};

// One history: machines, what happens to them, and whether what must hold held.
//
//   Simulation simulation({.seed = seed});
//   Machine& machine = simulation.add_machine("m1");
//   Outcome outcome = simulation.run([&] { machine.boot(program, {.crash_per_call = 0.01}); … });
class Simulation {
 public:
  explicit Simulation(const KernelOptions& options) : kernel_(options) {}

  // Before run() or in it.
  Machine& add_machine(std::string name, std::uint64_t disk_bytes = 1U << 30U);
  // Runs `body` outside of every machine. When it returns, the simulation goes on until every
  // thread has ended.
  Outcome run(std::function<void()> body) { return kernel_.run(std::move(body)); }

  // An invariant is broken: the simulation ends here, and the seed has found something.
  void fail(std::string why) { kernel_.fail(std::move(why)); }
  // A line in the story.
  void note(std::string_view what, std::string_view detail = {}) { kernel_.note(what, detail); }

  // What the machines reach each other and services outside of them by.
  SimNetwork& network() { return network_; }
  // Time, threads and chance for what runs outside of the machines.
  SimClock& clock() { return clock_; }
  SimThreads& threads() { return threads_; }
  Random& random() { return kernel_.random(); }

 private:
  Kernel kernel_;
  SimClock clock_{kernel_};
  SimThreads threads_{kernel_};
  SimNetwork network_{kernel_};
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace outlast::sim
