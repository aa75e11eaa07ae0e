#include "sys/posix_wait.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/posix_error.h"

namespace outlast::sys {
namespace {

// Without an eventfd, because we are out of descriptors, a stop is seen a little later: who waits
// for a signal or for a process to end must not fail then.
constexpr int kLookEveryMs = 100;

std::chrono::steady_clock::duration time_left(MonoTime deadline) {
  return deadline.time_since_epoch() - std::chrono::steady_clock::now().time_since_epoch();
}

int poll_timeout_ms(MonoTime deadline) {
  if (deadline == kNever) return -1;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time_left(deadline)).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, std::numeric_limits<int>::max()));
}

}  // namespace

FdWait::FdWait(const CallContext& ctx)
    : ctx_(ctx), stopped_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), wake_(ctx_.stop, [this] {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t n = ::write(stopped_.get(), &one, sizeof one);
      }) {}

Result<void> FdWait::wait(std::span<pollfd> fds) {
  if (ctx_.stop.stop_requested()) return Error(ErrorCode::kCancelled, "stopped while waiting");
  std::vector<pollfd> all(fds.begin(), fds.end());
  all.push_back({.fd = stopped_.get(), .events = POLLIN, .revents = 0});
  int timeout = poll_timeout_ms(ctx_.deadline);
  if (!stopped_ && ctx_.stop.stop_possible()) {
    timeout = timeout < 0 ? kLookEveryMs : std::min(timeout, kLookEveryMs);
  }
  const int n = ::poll(all.data(), all.size(), timeout);
  if (n < 0 && errno != EINTR) return posix_error(errno, "wait");
  for (std::size_t i = 0; i < fds.size(); ++i) {
    fds[i].revents = n > 0 ? all[i].revents : static_cast<short>(0);
  }
  return {};
}

bool FdWait::past_deadline() const {
  return ctx_.deadline != kNever && time_left(ctx_.deadline).count() <= 0;
}

}  // namespace outlast::sys
