#include "sys/posix_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/posix_child.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/posix_fork.h"
#include "sys/posix_keeper.h"
#include "sys/posix_wait.h"
#include "sys/process.h"

namespace outlast::sys {
namespace {

// <sys/wait.h> promises this, but the include check does not see it there.
constexpr int kWhenEndedAndKeep = WEXITED | WNOWAIT;  // NOLINT(misc-include-cleaner)

constexpr std::size_t kPieceBytes = 64U << 10U;

// Our end of one output stream.
struct Stream {
  Fd pipe;
  Output::Sink sink;

  // Passes on a piece of what is there, and returns its size; closes at the end of the stream.
  std::size_t pump(std::size_t bytes_max) {
    std::array<char, kPieceBytes> buffer;  // NOLINT: filled by read
    const std::size_t wanted = std::min(bytes_max, buffer.size());
    const ssize_t n = retry_eintr([&] { return ::read(pipe.get(), buffer.data(), wanted); });
    if (n < 0 && errno == EAGAIN) return 0;
    if (n <= 0) {
      pipe.reset();
      return 0;
    }
    sink(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
    return static_cast<std::size_t>(n);
  }

  // Passes on what is in the pipe now. What others write meanwhile stays: a grandchild that never
  // stops writing must not keep us here.
  void drain() {
    int left = 0;
    if (!pipe || ::ioctl(pipe.get(), FIONREAD, &left) != 0) return;
    for (auto bytes = static_cast<std::size_t>(left); bytes > 0 && pipe;) {
      const std::size_t n = pump(bytes);
      if (n == 0) return;
      bytes -= n;
    }
  }
};

class PosixProcess : public Process {
 public:
  PosixProcess(StartedChild child, std::vector<Stream> streams)
      : pid_(child.pid),
        pidfd_(std::move(child.pidfd)),
        keeper_(std::move(child.keeper)),
        streams_(std::move(streams)) {}

  ~PosixProcess() override {
    if (!status_) {
      ::kill(-pid_, SIGKILL);
      (void)signal(SIGKILL);  // in case it has left its group
    }
    reap_child(pid_);
  }

  int pid() const override { return pid_; }

  Result<void> signal(int signal_number) override {
    // By pidfd, and on a zombie at worst: it cannot reach a stranger with the same pid.
    if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal_number, nullptr, 0) != 0 &&
        errno != ESRCH) {
      return posix_error(errno, fmt::format("send signal {} to process {}", signal_number, pid_));
    }
    return {};
  }

  Result<void> signal_group(int signal_number) override {
    if (::kill(-pid_, signal_number) != 0 && errno != ESRCH) {
      return posix_error(errno, fmt::format("send signal {} to group {}", signal_number, pid_));
    }
    return {};
  }

  Result<ExitStatus> wait(const CallContext& ctx) override {
    if (status_) return *status_;
    FdWait fd_wait(ctx);
    while (true) {
      OUTLAST_TRY_ASSIGN(const bool ended, wait_once(fd_wait));
      if (!ended) continue;
      OUTLAST_TRY_ASSIGN(const ExitStatus status, read_status());
      status_ = status;
      for (Stream& stream : streams_) stream.drain();
      streams_.clear();
      return status;
    }
  }

 private:
  // Waits for output, the end or the context. True once the process has ended.
  Result<bool> wait_once(FdWait& fd_wait) {
    std::vector<pollfd> fds = {{.fd = pidfd_.get(), .events = POLLIN, .revents = 0}};
    for (const Stream& stream : streams_) {
      fds.push_back({.fd = stream.pipe.get(), .events = POLLIN, .revents = 0});  // -1 is skipped
    }
    OUTLAST_TRY(fd_wait.wait(fds).while_doing("wait for a process"));
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (fds[i + 1].revents != 0) streams_[i].pump(kPieceBytes);
    }
    if (fds[0].revents != 0) return true;
    // Also after output: a child that never stops writing must not outrun its deadline.
    if (fd_wait.past_deadline()) {
      return Error(ErrorCode::kDeadlineExceeded, "the process is still running");
    }
    return false;
  }

  Result<ExitStatus> read_status() const {
    siginfo_t info{};
    const auto ask = [&] {
      // The zombie keeps its pid for us until the destructor.
      return ::waitid(P_PID, static_cast<id_t>(pid_), &info, kWhenEndedAndKeep);
    };
    if (retry_eintr(ask) != 0) return posix_error(errno, "read the status of a process");
    if (info.si_code == CLD_EXITED) return ExitStatus(Exited{info.si_status});
    return ExitStatus(Signaled{info.si_status});
  }

  const int pid_;
  const Fd pidfd_;
  const Keeper keeper_;
  std::vector<Stream> streams_;
  std::optional<ExitStatus> status_;
};

// What the child gets for one output stream: -1 for ours. A sink adds our end to `streams`.
Result<Fd> child_end(Output& output, std::vector<Stream>& streams) {
  if (std::holds_alternative<Output::Discard>(output.target)) {
    Fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (!nowhere) return posix_error(errno, "open /dev/null");
    return nowhere;
  }
  auto* sink = std::get_if<Output::Sink>(&output.target);
  if (sink == nullptr) return Fd();
  OUTLAST_TRY_ASSIGN(Pipe pipe, make_pipe());
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);  // ours only; the child's end blocks as usual
  streams.push_back({.pipe = std::move(pipe.read), .sink = std::move(*sink)});
  return std::move(pipe.write);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

class PosixProcessLauncher : public ProcessLauncher {
 public:
  Result<std::unique_ptr<Process>> spawn(ProcessSpec spec) override {
    if (spec.argv.empty() || spec.argv.front().empty()) {
      return Error(ErrorCode::kInvalidArgument, "there is no program to run");
    }
    std::vector<Stream> streams;
    OUTLAST_TRY_ASSIGN(const Fd out, child_end(spec.out, streams));
    OUTLAST_TRY_ASSIGN(const Fd err, child_end(spec.err, streams));
    std::vector<std::string> variables;
    if (spec.environment) {
      for (const auto& [name, value] : *spec.environment) {
        variables.push_back(fmt::format("{}={}", name, value));
      }
    }
    std::string doing = fmt::format("run {}", spec.argv.front());
    if (!spec.working_dir.empty()) doing += fmt::format(" in {}", spec.working_dir);
    const std::vector<char*> argv = pointers(spec.argv);
    const std::vector<char*> envp = pointers(variables);
    const ChildPlan plan{
        .argv = argv.data(),
        .environment = spec.environment ? envp.data() : environ,
        .working_dir = spec.working_dir.empty() ? nullptr : spec.working_dir.c_str(),
        .out = out.get(),
        .err = err.get(),
        .kept = spec.dies_with_us};
    OUTLAST_TRY_ASSIGN(StartedChild child, start_child(plan, doing));
    return std::make_unique<PosixProcess>(std::move(child), std::move(streams));
  }
};

}  // namespace

std::unique_ptr<ProcessLauncher> make_posix_process_launcher() {
  return std::make_unique<PosixProcessLauncher>();
}

}  // namespace outlast::sys
