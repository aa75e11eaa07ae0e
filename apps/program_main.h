#pragma once

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program/exit_code.h"
#include "sys/posix_signal_stack.h"
#include "sys/posix_world.h"

// What main() does in all our programs: picks the real world and hands over.
namespace outlast::apps {

// Whatever failed may have been the console or the memory, so this uses neither.
inline int unexpected(std::string_view program, std::string_view what) {
  for (const std::string_view text :
       {program, std::string_view(": error: something unexpected happened: "), what,
        std::string_view("\n")}) {
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) break;
  }
  return static_cast<int>(cli::ExitCode::kFailed);
}

// A file that we open must never become somebody's standard output: the descriptors that are closed
// are taken, in the direction in which they cannot be used.
inline void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

using Run = std::function<cli::ExitCode(std::span<const std::string>, sys::World&)>;

inline int program_main(std::string_view program, std::span<char* const> words, const Run& run) {
  occupy_standard_descriptors();
  const sys::SignalStack signal_stack;
  // A reader that goes away ends in an error of that write, not in our death.
  std::signal(SIGPIPE, SIG_IGN);
  // Whoever started us may ignore it, which would make the kernel reap our children for us.
  std::signal(SIGCHLD, SIG_DFL);
  // Each arena keeps what its threads freed; and ours allocate seldom, in large pieces.
  (void)::mallopt(M_ARENA_MAX, 1);
  try {
    const std::vector<std::string> arguments(words.begin() + (words.empty() ? 0 : 1), words.end());
    sys::RealWorld real;
    return static_cast<int>(run(arguments, real.world()));
  } catch (const std::exception& error) {
    return unexpected(program, error.what());
  }
}

}  // namespace outlast::apps
