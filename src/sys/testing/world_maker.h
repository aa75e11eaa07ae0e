#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "sys/world.h"

namespace outlast::sys::testing {

// Runs a piece of test code in a world of its own with an empty scratch folder: how one suite tests
// both the real world and the simulated one.
struct WorldMaker {
  using Body = std::function<void(World& world, const std::string& scratch)>;
  std::string name;
  std::function<void(const Body&)> run;

  friend std::ostream& operator<<(std::ostream& out, const WorldMaker& maker) {
    return out << maker.name;
  }
};

}  // namespace outlast::sys::testing
