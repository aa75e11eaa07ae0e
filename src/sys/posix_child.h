#pragma once

#include <string>

#include "base/result.h"
#include "sys/posix_fd.h"
#include "sys/posix_keeper.h"

namespace outlast::sys {

// A program to start, prepared so that nothing has to be allocated after the fork. What it points
// to outlives the start.
struct ChildPlan {
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* working_dir = nullptr;  // nullptr: ours
  int out = -1;                       // becomes its standard output; -1: ours
  int err = -1;
  bool kept = true;  // by a Keeper
};

struct StartedChild {
  int pid = -1;
  Fd pidfd = {};
  Keeper keeper = {};
};

// Starts it as the leader of a process group of its own, as a shell would, with standard input from
// /dev/null, no other descriptor of ours, the default action for every signal and none blocked.
//
// Not by posix_spawn, so that at no moment the program runs and nobody keeps it: the new process
// waits at a gate, and becomes the program when its keeper is in place. If we die before that, the
// gate says so. `doing` begins the sentence of an error.
Result<StartedChild> start_child(const ChildPlan& plan, const std::string& doing);

}  // namespace outlast::sys
