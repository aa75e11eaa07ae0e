// The composition root of 'outlast': picks the real world and hands over.

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/program/exit_code.h"
#include "sys/posix_world.h"

namespace {

// Whatever failed may have been the console or the memory, so this uses neither.
int unexpected(const char* what) {
  for (const std::string_view text :
       {std::string_view("outlast: error: something unexpected happened: "), std::string_view(what),
        std::string_view("\n")}) {
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) break;
  }
  return static_cast<int>(outlast::cli::ExitCode::kFailed);
}

// A file that we open must never become somebody's standard output: the descriptors that are closed
// are taken, in the direction in which they cannot be used.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  // A reader that goes away ends in an error of that write, not in our death.
  std::signal(SIGPIPE, SIG_IGN);
  // Whoever started us may ignore it, which would make the kernel reap our children for us.
  std::signal(SIGCHLD, SIG_DFL);
  // Each arena keeps what its threads freed; and ours allocate seldom, in large pieces.
  (void)::mallopt(M_ARENA_MAX, 1);
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    outlast::sys::RealWorld real;
    return static_cast<int>(outlast::cli::run(arguments, real.world()));
  } catch (const std::exception& error) {
    return unexpected(error.what());
  }
}
