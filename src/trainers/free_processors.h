#pragma once

#include <string_view>

#include "sys/world.h"

namespace outlast::trainers {

// How many processors nobody else uses: `allowed`, within what the control group may use (`quota`,
// the text of its cpu.max), less the load of the last minute (`average`, that of /proc/loadavg); at
// least 1. Threads beyond that would wait for each other. Pure.
struct Processors {
  unsigned allowed = 1;
  std::string_view quota = {};
  std::string_view average = {};
};
unsigned free_processors(const Processors& processors);

// The same of this machine.
unsigned free_processors(sys::World& world);

}  // namespace outlast::trainers
