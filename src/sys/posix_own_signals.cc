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
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/own_signals.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/posix_wait.h"

namespace outlast::sys {
namespace {

// What a handler needs is global, because a handler is. A pipe is made once and never closed: on
// another thread a handler may still be about to write when its subscription has gone, and must not
// find somebody else's file behind the number.
struct SignalPipe {
  std::atomic<bool> taken = false;
  int read = -1;  // these two by whoever has taken it
  int write = -1;
  std::atomic<std::uint32_t> heard = 0;  // a bit for each signal
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
constexpr std::size_t kListenersMax = 8;
std::array<SignalPipe, kListenersMax> signal_pipes;

constexpr std::uint32_t bit_of(int number) {
  return std::uint32_t{1} << static_cast<unsigned>(number);
}

void on_signal(int number) {
  const int error_number = errno;
  const auto byte = static_cast<unsigned char>(number);
  for (SignalPipe& pipe : signal_pipes) {
    if ((pipe.heard & bit_of(number)) == 0) continue;
    [[maybe_unused]] const ssize_t n = ::write(pipe.write, &byte, 1);
  }
  errno = error_number;
}

// How many listen for each signal, and how it was handled before the first of them.
struct Listened {
  int listeners = 0;
  struct sigaction before{};
};
constexpr std::size_t kSignalsMax = 32;
Mutex listened_mutex;
std::array<Listened, kSignalsMax> listened OUTLAST_GUARDED_BY(listened_mutex);

Error cannot_listen(int number) {
  return posix_error(errno, fmt::format("listen for signal {}", number));
}

// False if it stays ignored.
Result<bool> begin_to_listen(int number) {
  const MutexLock lock(listened_mutex);
  Listened& entry = listened.at(static_cast<std::size_t>(number));
  if (entry.listeners == 0) {
    if (::sigaction(number, nullptr, &entry.before) != 0) return cannot_listen(number);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): what the C library made it
    const bool ignored = entry.before.sa_handler == SIG_IGN;
    if (ignored && (number == SIGHUP || number == SIGINT)) return false;
    struct sigaction ours{};
    ours.sa_handler = on_signal;  // NOLINT(cppcoreguidelines-pro-type-union-access)
    // On the stack that the thread has for it, if any: see posix_signal_stack.h.
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigfillset(&ours.sa_mask);
    if (::sigaction(number, &ours, nullptr) != 0) return cannot_listen(number);
  }
  ++entry.listeners;
  return true;
}

void end_listening(int number) {
  const MutexLock lock(listened_mutex);
  Listened& entry = listened.at(static_cast<std::size_t>(number));
  if (--entry.listeners == 0) ::sigaction(number, &entry.before, nullptr);
}

std::optional<int> next_in(int pipe) {
  unsigned char byte = 0;
  if (retry_eintr([&] { return ::read(pipe, &byte, 1); }) != 1) return std::nullopt;
  return byte;
}

class PosixSubscription : public SignalSubscription {
 public:
  explicit PosixSubscription(SignalPipe& pipe) : pipe_(pipe) { forget(); }
  ~PosixSubscription() override {
    for (const int number : numbers_) end_listening(number);
    pipe_.heard = 0;
    forget();
    pipe_.taken = false;
  }

  Result<void> listen_for(int number) {
    if (is_ours(number)) return {};
    pipe_.heard |= bit_of(number);  // first: what comes from now on counts
    const Result<bool> listens = begin_to_listen(number);
    if (!listens) return listens.error();
    if (*listens) numbers_.push_back(number);
    return {};
  }

  Result<int> next(const CallContext& ctx) override {
    FdWait wait(ctx);
    while (true) {
      if (const std::optional<int> number = next_in(pipe_.read)) {
        if (is_ours(*number)) return *number;
        continue;  // of a handler that came too late for the subscription before
      }
      if (wait.past_deadline()) return Error(ErrorCode::kDeadlineExceeded, "no signal came");
      pollfd readable{.fd = pipe_.read, .events = POLLIN, .revents = 0};
      OUTLAST_TRY(wait.wait(std::span(&readable, 1)).while_doing("wait for a signal"));
    }
  }

 private:
  bool is_ours(int number) const {
    return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
  }
  void forget() const {
    while (next_in(pipe_.read)) continue;
  }

  SignalPipe& pipe_;
  std::vector<int> numbers_;
};

// One that nobody has, with both its ends.
Result<SignalPipe*> take_pipe() {
  for (SignalPipe& pipe : signal_pipes) {
    if (pipe.taken.exchange(true)) continue;
    std::array<int, 2> ends{};
    // Never waits: a full pipe has some 64,000 signals in it that nobody wanted.
    if (pipe.read < 0 && ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
      const int error_number = errno;
      pipe.taken = false;
      return posix_error(error_number, "make a pipe for signals");
    }
    if (pipe.read < 0) {
      pipe.read = ends[0];
      pipe.write = ends[1];
    }
    return &pipe;
  }
  return Error(ErrorCode::kUnavailable, "too many listen for signals already");
}

class PosixOwnSignals : public OwnSignals {
 public:
  Result<std::unique_ptr<SignalSubscription>> subscribe(
      const std::vector<int>& signal_numbers) override {
    OUTLAST_TRY(check_subscribed_signals(signal_numbers));
    OUTLAST_TRY_ASSIGN(SignalPipe* const pipe, take_pipe());
    auto subscription = std::make_unique<PosixSubscription>(*pipe);
    for (const int number : signal_numbers) OUTLAST_TRY(subscription->listen_for(number));
    return subscription;
  }
};

}  // namespace

std::unique_ptr<OwnSignals> make_posix_own_signals() {
  return std::make_unique<PosixOwnSignals>();
}

}  // namespace outlast::sys
