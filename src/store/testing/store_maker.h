#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "store/object_store.h"
#include "sys/world.h"

namespace outlast::store::testing {

// What a server is known to do otherwise than promised: the test of the suite that would fail, and
// why that is not ours to mend.
struct Deviation {
  std::string test = {};
  std::string why = {};
};

// Runs a piece of test code with a store that is fresh, empty and nobody else's, in a world of its
// own: how one suite tests every store, in the real world and in the simulated one.
struct StoreMaker {
  using Body = std::function<void(ObjectStore& store, sys::World& world)>;

  std::string name = {};
  std::function<void(const Body&)> run = {};
  std::vector<Deviation> deviations = {};
  // Of the longest key that is tried: less than 1,024 where the store puts its own prefix before
  // it.
  std::size_t key_bytes_max = 1024;
  // The store's clock is the one of this machine.
  bool same_clock = false;

  friend std::ostream& operator<<(std::ostream& out, const StoreMaker& maker) {
    return out << maker.name;
  }
};

}  // namespace outlast::store::testing
