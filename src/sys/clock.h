#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"

namespace outlast::sys {

// The two clocks of a machine. mono_now() measures; wall_now() is shown and sent, and may jump.
// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonoTime mono_now() = 0;
  virtual WallTime wall_now() = 0;
  // Waits until `when`. kCancelled or kDeadlineExceeded if `ctx` ends the wait first.
  virtual Result<void> sleep_until(MonoTime when, const CallContext& ctx) = 0;

  Result<void> sleep_for(Duration length, const CallContext& ctx) {
    return sleep_until(saturating_add(mono_now(), length), ctx);
  }
};

}  // namespace outlast::sys
