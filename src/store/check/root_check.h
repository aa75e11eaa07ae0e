#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::store {

enum class Verdict {
  kGood,
  kNote,    // something is missing that a root can do without
  kBroken,  // a root here would lose work
};
std::string_view to_string(Verdict verdict);

struct CheckFinding {
  std::string name = {};  // "create-if-absent, raced"
  Verdict verdict = Verdict::kGood;
  std::string words = {};  // what was seen, and what it means
};

// What the checks work with.
struct CheckTools {
  ObjectStore& store;
  sys::Threads& threads;
  sys::Clock& clock;
  Random& random;
};

struct RootCheckOptions {
  std::string folder = {};  // below which to work: "" or a prefix that ends in '/'
  unsigned writers = 16;
  unsigned rounds = 25;  // of each race
  // Called with the name of each check before it starts.
  std::function<void(std::string_view)> on_check = {};
};

// Tries out, on the real store, everything that a root's safety rests on: writes that are really
// conditional under racing writers, reads and listings that see what was just written, ranges,
// large uploads, names, the clock. Works under "<folder>outlast-check-<token>/" and removes that
// again. An error if the store cannot be used at all; otherwise one finding for each check, in
// order.
Result<std::vector<CheckFinding>> check_root(const CheckTools& tools,
                                             const RootCheckOptions& options,
                                             const sys::CallContext& ctx);

}  // namespace outlast::store
