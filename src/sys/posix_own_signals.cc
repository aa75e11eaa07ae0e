#include "sys/posix_own_signals.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/own_signals.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/posix_wait.h"

namespace outlast::sys {
namespace {

// What a handler needs is global, because a handler is. The pipe is made once and never closed: on
// another thread a handler may still be about to write when the subscription has gone, and must not
// find somebody else's file behind the number.
struct SignalPipe {
  int read = -1;
  int write = -1;
};
std::atomic<int> signal_pipe_write = -1;
static_assert(std::atomic<int>::is_always_lock_free);

Result<SignalPipe> make_signal_pipe() {
  std::array<int, 2> ends{};
  // Never waits: a full pipe has some 64,000 signals in it that nobody wanted.
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return posix_error(errno, "make a pipe for signals");
  }
  signal_pipe_write = ends[1];
  return SignalPipe{.read = ends[0], .write = ends[1]};
}

void on_signal(int number) {
  const int error_number = errno;
  const auto byte = static_cast<unsigned char>(number);
  [[maybe_unused]] const ssize_t n = ::write(signal_pipe_write, &byte, 1);
  errno = error_number;
}

std::optional<int> next_in(int pipe) {
  unsigned char byte = 0;
  if (retry_eintr([&] { return ::read(pipe, &byte, 1); }) != 1) return std::nullopt;
  return byte;
}

class PosixSubscription : public SignalSubscription {
 public:
  PosixSubscription(int pipe, std::atomic<bool>& taken) : pipe_(pipe), taken_(taken) { forget(); }
  ~PosixSubscription() override {
    for (const auto& [number, action] : before_) ::sigaction(number, &action, nullptr);
    forget();
    taken_ = false;
  }

  Result<void> listen_for(int number) {
    if (is_ours(number)) return {};
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) != 0) return failed(number);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): what the C library made it
    const bool ignored = action.sa_handler == SIG_IGN;
    if (ignored && (number == SIGHUP || number == SIGINT)) return {};
    struct sigaction ours{};
    ours.sa_handler = on_signal;  // NOLINT(cppcoreguidelines-pro-type-union-access)
    ours.sa_flags = SA_RESTART;
    ::sigfillset(&ours.sa_mask);
    if (::sigaction(number, &ours, nullptr) != 0) return failed(number);
    before_.emplace_back(number, action);
    return {};
  }

  Result<int> next(const CallContext& ctx) override {
    FdWait wait(ctx);
    while (true) {
      if (const std::optional<int> number = next_in(pipe_)) {
        if (is_ours(*number)) return *number;
        continue;  // of a handler that came too late for the subscription before
      }
      if (wait.past_deadline()) return Error(ErrorCode::kDeadlineExceeded, "no signal came");
      pollfd readable{.fd = pipe_, .events = POLLIN, .revents = 0};
      OUTLAST_TRY(wait.wait(std::span(&readable, 1)).while_doing("wait for a signal"));
    }
  }

 private:
  static Error failed(int number) {
    return posix_error(errno, fmt::format("listen for signal {}", number));
  }
  bool is_ours(int number) const {
    return std::any_of(before_.begin(), before_.end(),
                       [&](const auto& entry) { return entry.first == number; });
  }
  void forget() const {
    while (next_in(pipe_)) continue;
  }

  const int pipe_;
  std::atomic<bool>& taken_;
  std::vector<std::pair<int, struct sigaction>> before_;  // how each was handled
};

class PosixOwnSignals : public OwnSignals {
 public:
  Result<std::unique_ptr<SignalSubscription>> subscribe(
      const std::vector<int>& signal_numbers) override {
    OUTLAST_TRY(check_subscribed_signals(signal_numbers));
    static std::atomic<bool> taken = false;
    if (taken.exchange(true)) {
      return Error(ErrorCode::kAlreadyExists, "somebody listens for signals already");
    }
    static SignalPipe pipe;  // guarded by `taken`
    if (pipe.read < 0) {
      const Result<SignalPipe> made = make_signal_pipe();
      if (!made) {
        taken = false;
        return made.error();
      }
      pipe = *made;
    }
    auto subscription = std::make_unique<PosixSubscription>(pipe.read, taken);
    for (const int number : signal_numbers) OUTLAST_TRY(subscription->listen_for(number));
    return subscription;
  }
};

}  // namespace

std::unique_ptr<OwnSignals> make_posix_own_signals() {
  return std::make_unique<PosixOwnSignals>();
}

}  // namespace outlast::sys
