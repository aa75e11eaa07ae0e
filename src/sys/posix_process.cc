#include "sys/posix_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/process.h"

namespace outlast::sys {
namespace {

// <sys/wait.h> promises these, but the include check does not see them there.
constexpr int kWhenEnded = WEXITED;                   // NOLINT(misc-include-cleaner)
constexpr int kWhenEndedAndKeep = WEXITED | WNOWAIT;  // NOLINT(misc-include-cleaner)

constexpr std::size_t kPieceBytes = 64U << 10U;

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return posix_error(errno, "make a pipe");
  Pipe pipe{.read = Fd(ends[0]), .write = Fd(ends[1])};
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);  // ours only; the child's end blocks as usual
  return pipe;
}

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
  PosixProcess(int pid, Fd pidfd, std::vector<Stream> streams)
      : pid_(pid), pidfd_(std::move(pidfd)), streams_(std::move(streams)) {}

  ~PosixProcess() override {
    if (!status_) {
      ::kill(-pid_, SIGKILL);
      (void)signal(SIGKILL);  // in case it has left its group
    }
    siginfo_t info{};
    retry_eintr([&] { return ::waitid(P_PID, static_cast<id_t>(pid_), &info, kWhenEnded); });
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
    const Fd stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stopped) return posix_error(errno, "make an eventfd");
    const std::stop_callback wake(ctx.stop, [&stopped] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t n = ::write(stopped.get(), &one, sizeof one);
    });
    while (true) {
      OUTLAST_TRY_ASSIGN(const bool ended, wait_once(stopped.get(), ctx));
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
  Result<bool> wait_once(int stopped, const CallContext& ctx) {
    if (ctx.stop.stop_requested()) {
      return Error(ErrorCode::kCancelled, "stopped while waiting for a process");
    }
    std::vector<pollfd> fds = {{.fd = pidfd_.get(), .events = POLLIN, .revents = 0},
                               {.fd = stopped, .events = POLLIN, .revents = 0}};
    for (const Stream& stream : streams_) {
      fds.push_back({.fd = stream.pipe.get(), .events = POLLIN, .revents = 0});  // -1 is skipped
    }
    const int n = ::poll(fds.data(), fds.size(), timeout_ms(ctx.deadline));
    if (n < 0 && errno != EINTR) return posix_error(errno, "wait for a process");
    for (std::size_t i = 0; n > 0 && i < streams_.size(); ++i) {
      if (fds[i + 2].revents != 0) streams_[i].pump(kPieceBytes);
    }
    if (n > 0 && fds[0].revents != 0) return true;
    // Also after output: a child that never stops writing must not outrun its deadline.
    if (past(ctx.deadline)) {
      return Error(ErrorCode::kDeadlineExceeded, "the process is still running");
    }
    return false;
  }

  static std::chrono::steady_clock::duration left(MonoTime deadline) {
    return deadline.time_since_epoch() - std::chrono::steady_clock::now().time_since_epoch();
  }
  static bool past(MonoTime deadline) { return left(deadline).count() <= 0; }

  static int timeout_ms(MonoTime deadline) {
    if (deadline == kNever) return -1;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left(deadline)).count();
    return static_cast<int>(std::clamp<std::int64_t>(ms, 0, std::numeric_limits<int>::max()));
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
  std::vector<Stream> streams_;
  std::optional<ExitStatus> status_;
};

// posix_spawn's two argument objects, and their owner.
struct SpawnArguments {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnArguments() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  SpawnArguments(const SpawnArguments&) = delete;
  SpawnArguments& operator=(const SpawnArguments&) = delete;
  ~SpawnArguments() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }

  void own_group_and_clean_signals() {
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t set;
    ::sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes, &set);
    ::sigfillset(&set);
    ::sigdelset(&set, SIGKILL);
    ::sigdelset(&set, SIGSTOP);
    ::posix_spawnattr_setsigdefault(&attributes, &set);
  }
};

// Sends the child's descriptor `child_fd` where `output` says; a sink adds a stream to `streams`,
// and the child's end of the pipe to `child_ends`, to be closed after the start.
Result<void> connect(Output& output, int child_fd, SpawnArguments& arguments,
                     std::vector<Stream>& streams, std::vector<Fd>& child_ends) {
  if (std::holds_alternative<Output::Discard>(output.target)) {
    ::posix_spawn_file_actions_addopen(&arguments.actions, child_fd, "/dev/null", O_WRONLY, 0);
  } else if (auto* sink = std::get_if<Output::Sink>(&output.target)) {
    OUTLAST_TRY_ASSIGN(Pipe pipe, make_pipe());
    ::posix_spawn_file_actions_adddup2(&arguments.actions, pipe.write.get(), child_fd);
    streams.push_back({.pipe = std::move(pipe.read), .sink = std::move(*sink)});
    child_ends.push_back(std::move(pipe.write));
  }
  return {};
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
    SpawnArguments arguments;
    arguments.own_group_and_clean_signals();
    std::vector<Stream> streams;
    std::vector<Fd> child_ends;
    ::posix_spawn_file_actions_addopen(&arguments.actions, 0, "/dev/null", O_RDONLY, 0);
    OUTLAST_TRY(connect(spec.out, 1, arguments, streams, child_ends));
    OUTLAST_TRY(connect(spec.err, 2, arguments, streams, child_ends));
    ::posix_spawn_file_actions_addclosefrom_np(&arguments.actions, 3);
    if (!spec.working_dir.empty()) {
      ::posix_spawn_file_actions_addchdir_np(&arguments.actions, spec.working_dir.c_str());
    }
    std::vector<std::string> variables;
    if (spec.environment) {
      for (const auto& [name, value] : *spec.environment) {
        variables.push_back(fmt::format("{}={}", name, value));
      }
    }
    const std::vector<char*> argv = pointers(spec.argv);
    const std::vector<char*> envp = pointers(variables);

    int pid = 0;
    const int failure = ::posix_spawnp(&pid, argv[0], &arguments.actions, &arguments.attributes,
                                       argv.data(), spec.environment ? envp.data() : environ);
    if (failure != 0) return not_started(failure, spec);
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd) {  // out of descriptors, or a sandbox that forbids it
      const Error error = posix_error(errno, fmt::format("watch the process {}", pid));
      ::kill(-pid, SIGKILL);
      siginfo_t info{};
      retry_eintr([&] { return ::waitid(P_PID, static_cast<id_t>(pid), &info, kWhenEnded); });
      return error;
    }
    return std::make_unique<PosixProcess>(pid, std::move(pidfd), std::move(streams));
  }

 private:
  static Error not_started(int error_number, const ProcessSpec& spec) {
    std::string doing = fmt::format("run {}", spec.argv.front());
    if (!spec.working_dir.empty()) doing += fmt::format(" in {}", spec.working_dir);
    return posix_error(error_number, doing);
  }
};

}  // namespace

std::unique_ptr<ProcessLauncher> make_posix_process_launcher() {
  return std::make_unique<PosixProcessLauncher>();
}

}  // namespace outlast::sys
