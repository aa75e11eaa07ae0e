#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "stand_in/happening.h"

namespace outlast::stand_in {

// What happens, and how long after the start.
struct ScriptLine {
  Duration at = {};
  Happening happening = {};
};
using Script = std::vector<ScriptLine>;  // in order of time

// A script is text, one happening a line, each after its time:
//
//   # what a bad day looks like
//   10s  preempt 30s
//   25s  withdraw
//   30s  fail 503 for 5s
//
// '#' begins a comment. kInvalidArgument, with the line and what is wrong in it, if it is not one,
// or not in order.
Result<Script> parse_script(std::string_view text, std::string_view cloud);

}  // namespace outlast::stand_in
