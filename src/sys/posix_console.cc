#include "sys/posix_console.h"

#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sys/console.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"

namespace outlast::sys {
namespace {

Result<void> write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = retry_eintr([&] { return ::write(fd, text.data(), text.size()); });
    if (n < 0 && errno == EPIPE) {
      return Error(ErrorCode::kCancelled, "nobody reads the output any more");
    }
    if (n < 0) return posix_error(errno, "write to standard output");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

class PosixConsole : public Console {
 public:
  void out(std::string_view text) override {
    const MutexLock lock(mutex_);
    if (status_) status_ = write_all(STDOUT_FILENO, text);
  }

  void err(std::string_view text) override {
    const MutexLock lock(mutex_);
    (void)write_all(STDERR_FILENO, text);
  }

  Result<void> out_status() override {
    const MutexLock lock(mutex_);
    return status_;
  }

  bool out_is_terminal() override { return ::isatty(STDOUT_FILENO) == 1; }
  bool err_is_terminal() override { return ::isatty(STDERR_FILENO) == 1; }

  int columns() override {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
  }

 private:
  Mutex mutex_;  // keeps lines of different threads whole
  Result<void> status_ OUTLAST_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Console> make_posix_console() {
  return std::make_unique<PosixConsole>();
}

}  // namespace outlast::sys
