#pragma once

#include <stop_token>

#include "base/time.h"

namespace outlast::sys {

// How long a waiting call may take and who can call it off: the last parameter of everything that
// waits. Cheap to copy.
struct CallContext {
  MonoTime deadline = kNever;  // past it: kDeadlineExceeded
  std::stop_token stop = {};   // once stopped: kCancelled

  // The same, but no later than `sooner`.
  CallContext until(MonoTime sooner) const {
    return {.deadline = sooner < deadline ? sooner : deadline, .stop = stop};
  }
};

}  // namespace outlast::sys
