#include "sim/simulation.h"

#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "sim/kernel.h"
#include "sim/sim_network.h"
#include "sim/sim_process.h"
#include "sys/call_context.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::sim {

Machine::Machine(Kernel& kernel, SimNetwork& network, std::string name, std::uint64_t disk_bytes)
    : kernel_(kernel),
      name_(std::move(name)),
      disk_(disk_bytes),
      clock_(kernel),
      threads_(kernel),
      files_(kernel, clock_, disk_),
      file_watches_(kernel, files_, disk_),
      own_signals_(kernel),
      processes_(kernel, own_signals_),
      process_families_(kernel, processes_, own_signals_, files_),
      environment_(name_, kernel.random().next()),
      http_(kernel, network, name_),
      http_servers_(kernel, network, name_),
      local_sockets_(kernel, processes_, disk_),
      shared_memories_(kernel),
      random_(kernel.random().next()),
      world_{.clock = clock_,
             .threads = threads_,
             .files = files_,
             .file_watches = file_watches_,
             .processes = processes_,
             .process_families = process_families_,
             .own_signals = own_signals_,
             .environment = environment_,
             .console = console_,
             .http = http_,
             .http_servers = http_servers_,
             .local_sockets = local_sockets_,
             .shared_memories = shared_memories_,
             .random = random_} {
  console_.enter = [this] { return kernel_.step("console"); };
}

void Machine::boot(std::function<void(sys::World&)> program, const Hazard& hazard) {
  OUTLAST_CHECK(!is_on(), "{} is on already", name_);
  lives_.push_back(std::make_unique<Domain>());
  life_ = lives_.back().get();
  life_->name = fmt::format("{}.{}", name_, lives_.size());
  life_->parent = &kernel_.root_domain();
  life_->death_per_call = hazard.crash_per_call;
  life_->death_at_call = hazard.crash_at_call;
  life_->die = [this] { crash(); };
  kernel_.note("boot", life_->name);
  kernel_.spawn(*life_, "main", [this, program = std::move(program)] { program(world_); });
}

void Machine::crash() {
  if (life_ == nullptr || !life_->alive) return;
  kernel_.note("CRASH", life_->name);
  disk_.crash(kernel_.random());
  kernel_.kill(*life_);
}

void Machine::signal(int signal_number) {
  if (life_ == nullptr || !life_->alive) return;
  kernel_.note("signal", fmt::format("{} to {}", signal_number, life_->name));
  if (own_signals_.deliver(*life_, signal_number)) return;
  if (ends_a_process(signal_number)) kernel_.kill(*life_);
}

bool Machine::is_on() const {
  return life_ != nullptr && kernel_.has_threads(*life_);
}

bool Machine::wait_until_off(const sys::CallContext& ctx) {
  while (is_on()) {
    if (kernel_.wait_for_an_end(name_, ctx) != sys::Woken::kNotified) break;
  }
  return !is_on();
}

Machine& Simulation::add_machine(std::string name, std::uint64_t disk_bytes) {
  machines_.push_back(std::make_unique<Machine>(kernel_, network_, std::move(name), disk_bytes));
  return *machines_.back();
}

}  // namespace outlast::sim
