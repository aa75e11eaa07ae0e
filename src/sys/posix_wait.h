#pragma once

#include <poll.h>

#include <functional>
#include <span>
#include <stop_token>

#include "base/result.h"
#include "sys/call_context.h"
#include "sys/posix_fd.h"

namespace outlast::sys {

// Waits for file descriptors within a CallContext: one for each call that waits, on its stack. The
// stop token reaches poll() through an eventfd, if one can be had. Confined to its call.
class FdWait {
 public:
  explicit FdWait(const CallContext& ctx);

  // Until something is there for one of `fds`, which their `revents` tell; an fd of -1 is skipped.
  // All of them are 0 if the deadline passed, which past_deadline() tells, or something came
  // between. kCancelled if stopped before.
  Result<void> wait(std::span<pollfd> fds);
  bool past_deadline() const;

 private:
  const CallContext ctx_;
  const Fd stopped_;
  const std::stop_callback<std::function<void()>> wake_;
};

}  // namespace outlast::sys
