#include "sys/posix_clock.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::sys {
namespace {

class PosixClock : public Clock {
 public:
  MonoTime mono_now() override {
    return MonoTime(std::chrono::steady_clock::now().time_since_epoch());
  }

  WallTime wall_now() override {
    return WallTime(std::chrono::system_clock::now().time_since_epoch());
  }

  Result<void> sleep_until(MonoTime when, const CallContext& ctx) override {
    const MonoTime until = when < ctx.deadline ? when : ctx.deadline;
    const std::chrono::steady_clock::time_point wake(until.time_since_epoch());
    // Nobody notifies: only the time or the stop token ends the wait.
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_until(lock, ctx.stop, wake, [] { return false; });
    if (mono_now() >= when) return {};
    if (ctx.stop.stop_requested()) return Error(ErrorCode::kCancelled, "stopped while sleeping");
    return Error(ErrorCode::kDeadlineExceeded, "the deadline passed while sleeping");
  }
};

}  // namespace

std::unique_ptr<Clock> make_posix_clock() {
  return std::make_unique<PosixClock>();
}

}  // namespace outlast::sys
