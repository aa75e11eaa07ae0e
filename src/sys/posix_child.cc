#include "sys/posix_child.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/posix_fork.h"
#include "sys/posix_keeper.h"

namespace outlast::sys {
namespace {

// Makes `fd` the child's `target`; -1: leaves what is there.
bool place(int fd, int target) {
  if (fd < 0) return true;
  if (fd == target) return ::fcntl(fd, F_SETFD, 0) == 0;  // not to be closed after all
  return ::dup2(fd, target) >= 0;
}

void handle_all_signals_by(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &action, nullptr);
}

void default_signals() {
  handle_all_signals_by(SIG_IGN);  // forgets a Ctrl-C that came while it was still in our group
  handle_all_signals_by(SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// In the new process. Returns only if it cannot become the program; then errno says why.
void become(const ChildPlan& plan, int report) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || !place(nothing, STDIN_FILENO)) return;
  if (!place(plan.out, STDOUT_FILENO) || !place(plan.err, STDERR_FILENO)) return;
  close_all_but(report, STDERR_FILENO + 1);
  if (plan.working_dir != nullptr && ::chdir(plan.working_dir) != 0) return;
  default_signals();
  ::execvpe(plan.argv[0], plan.argv, plan.environment);
}

// The new process, until it is the program.
[[noreturn]] void wait_and_become(const ChildPlan& plan, const Pipe& gate, int report) {
  ::close(gate.write.get());  // else it would keep its own gate from closing
  char go = 0;
  if (retry_eintr([&] { return ::read(gate.read.get(), &go, 1); }) == 1) {
    become(plan, report);
    const int error_number = errno;
    retry_eintr([&] { return ::write(report, &error_number, sizeof error_number); });
  }
  ::_exit(127);
}

// What has been forked and is not yet the program. If we end, it does: its gate closes.
struct Waiting {
  Pipe gate = {};
  Pipe report = {};
  StartedChild child = {};

  ~Waiting() {
    if (child.pid < 0) return;
    ::kill(child.pid, SIGKILL);  // has not been reaped: nobody else has its number
    reap_child(child.pid);
  }
};

Result<void> fork_child(const ChildPlan& plan, Waiting& waiting) {
  const SignalsBlocked blocked;
  const int pid = ::fork();
  if (pid < 0) return posix_error(errno, "start a process");
  if (pid == 0) wait_and_become(plan, waiting.gate, waiting.report.write.get());
  waiting.child.pid = pid;
  if (::setpgid(pid, pid) != 0) return posix_error(errno, "give a process its group");
  return {};
}

// 0 if it has become the program, else why not.
int open_gate(Waiting& waiting) {
  const char go = 1;
  // Our own reading end is still open: whatever has become of the child, this does not fail.
  retry_eintr([&] { return ::write(waiting.gate.write.get(), &go, sizeof go); });
  waiting.report.write.reset();
  int error_number = 0;
  const auto n = retry_eintr(
      [&] { return ::read(waiting.report.read.get(), &error_number, sizeof error_number); });
  return n == sizeof error_number ? error_number : 0;  // nothing: closed when it was executed
}

}  // namespace

Result<StartedChild> start_child(const ChildPlan& plan, const std::string& doing) {
  Waiting waiting;
  {
    // A child holds copies of the gates that there are when it is forked. One step for both, so
    // that it holds older ones only: two that held each other's would both wait for ever.
    static std::mutex forking;
    const std::lock_guard lock(forking);
    OUTLAST_TRY_ASSIGN(waiting.gate, make_pipe().while_doing(doing));
    OUTLAST_TRY_ASSIGN(waiting.report, make_pipe().while_doing(doing));
    OUTLAST_TRY(fork_child(plan, waiting).while_doing(doing));
  }
  if (plan.kept) {
    OUTLAST_TRY_ASSIGN(waiting.child.keeper, Keeper::start(waiting.child.pid).while_doing(doing));
  }
  waiting.child.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, waiting.child.pid, 0)));
  if (!waiting.child.pidfd) {  // out of descriptors, or a sandbox that forbids it
    return posix_error(errno, fmt::format("watch the process {}", waiting.child.pid))
        .while_doing(doing);
  }
  if (const int failure = open_gate(waiting); failure != 0) return posix_error(failure, doing);
  StartedChild started = std::move(waiting.child);
  waiting.child.pid = -1;
  return started;
}

}  // namespace outlast::sys
