#include "sys/posix_fork.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>

#include "base/result.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"

namespace outlast::sys {
namespace {

void close_from_to(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0U) == 0) return;
  // Before Linux 5.9. What is open above the limit of today was opened under another one: ours is
  // never lowered.
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  for (unsigned fd = first; fd <= last && fd < limit.rlim_cur; ++fd) {
    ::close(static_cast<int>(fd));
  }
}

}  // namespace

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return posix_error(errno, "make a pipe");
  return Pipe{.read = Fd(ends[0]), .write = Fd(ends[1])};
}

SignalsBlocked::SignalsBlocked() : before_() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void close_all_but(int kept, int first) {
  if (kept > first) close_from_to(static_cast<unsigned>(first), static_cast<unsigned>(kept) - 1);
  const int rest = kept < first ? first : kept + 1;
  close_from_to(static_cast<unsigned>(rest), std::numeric_limits<unsigned>::max());
}

void reap_child(int pid) {
  siginfo_t info{};
  // <sys/wait.h> promises WEXITED, but the include check does not see it there.
  retry_eintr([&] {
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);  // NOLINT(misc-include-cleaner)
  });
}

}  // namespace outlast::sys
