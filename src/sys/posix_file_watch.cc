#include "sys/posix_file_watch.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/file_watch.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"
#include "sys/posix_wait.h"

namespace outlast::sys {
namespace {

constexpr std::uint32_t kWatched = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                   IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                                   IN_EXCL_UNLINK;
constexpr int kReadsAtOnce = 16;  // a tree that never rests must not keep us from reporting

// What the kernel says when it watches no more, and what to do about it.
Error not_watched(int error_number, const std::string& folder) {
  if (error_number == ENOSPC || error_number == EMFILE) {
    const char* const what = error_number == ENOSPC
                                 ? "this user may have no more inotify watches; raise "
                                   "fs.inotify.max_user_watches"
                                 : "there may be no more inotify instances, or open files; raise "
                                   "fs.inotify.max_user_instances or 'ulimit -n'";
    return {
        ErrorCode::kUnavailable,
        fmt::format("watch {}: {}, or let changes be looked for from time to time", folder, what)};
  }
  return posix_error(error_number, fmt::format("watch {}", folder));
}

class PosixFileWatch : public FileWatch {
 public:
  PosixFileWatch(std::string folder, std::function<bool(const std::string& path)> leave_out)
      : root_(std::move(folder)), leave_out_(std::move(leave_out)) {}

  // Watches everything anew: at the beginning, and when events were lost.
  Result<void> watch_all() {
    // Removing the watches would queue an event for each, which in a large tree is too many again.
    inotify_.reset();
    inotify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!inotify_) return not_watched(errno, root_);
    paths_.clear();
    numbers_.clear();
    // The root may be a symlink; what is below it is watched only if it is a folder itself.
    const int number = ::inotify_add_watch(inotify_.get(), root_.c_str(), kWatched);
    if (number < 0) return not_watched(errno, root_);
    name_watch(number, root_);
    return watch_below(root_, nullptr);
  }

  Result<FileChanges> wait(const CallContext& ctx) override {
    if (failure_) return *failure_;
    FdWait fd_wait(ctx);
    while (true) {
      Result<FileChanges> changes = read_changes();
      if (!changes) {
        failure_ = changes.error();
        return changes;
      }
      if (changes->overflowed || !changes->paths.empty()) return changes;
      if (fd_wait.past_deadline()) return Error(ErrorCode::kDeadlineExceeded, "nothing changed");
      pollfd readable{.fd = inotify_.get(), .events = POLLIN, .revents = 0};
      OUTLAST_TRY(fd_wait.wait(std::span(&readable, 1)).while_doing("wait for changes"));
    }
  }

 private:
  void name_watch(int number, const std::string& path) {
    // The same folder under another name keeps its number.
    if (const auto before = paths_.find(number); before != paths_.end()) {
      numbers_.erase(before->second);
    }
    paths_.insert_or_assign(number, path);
    numbers_.insert_or_assign(path, number);
  }

  // Adds watches for `folder`, which has just appeared, and all below it. What is in them goes to
  // `found`: it may have come before there was a watch.
  Result<void> watch_new(const std::string& folder, std::set<std::string>* found) {
    if (leave_out_ && leave_out_(folder)) return {};
    const int number =
        ::inotify_add_watch(inotify_.get(), folder.c_str(), kWatched | IN_DONT_FOLLOW);
    if (number < 0) {
      // It has gone, or something else has its name now, or it is not for us.
      if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP) return {};
      return not_watched(errno, folder);
    }
    name_watch(number, folder);
    return watch_below(folder, found);
  }

  // The watch on `folder` comes first, its listing second: what appears between is seen twice.
  Result<void> watch_below(const std::string& folder, std::set<std::string>* found) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      const std::string path = below(folder, at->path().filename().string());
      std::error_code ignored;
      const bool is_folder =
          at->symlink_status(ignored).type() == std::filesystem::file_type::directory;
      if (found != nullptr && !(is_folder && leave_out_ && leave_out_(path))) found->insert(path);
      if (is_folder) OUTLAST_TRY(watch_new(path, found));
    }
    return {};  // a folder that has gone meanwhile is reported by the one above it
  }

  // `folder` and what is below it are no longer here: their watches must not report old names.
  void forget(const std::string& folder) {
    const std::string start = folder + "/";
    for (auto at = numbers_.lower_bound(folder); at != numbers_.end();) {
      if (at->first != folder && !at->first.starts_with(start)) {
        if (!at->first.starts_with(folder)) break;  // "a-b" stands between "a" and "a/b"
        ++at;
        continue;
      }
      ::inotify_rm_watch(inotify_.get(), at->second);
      paths_.erase(at->second);
      at = numbers_.erase(at);
    }
  }

  Result<FileChanges> read_changes() {
    std::set<std::string> changed;
    for (int i = 0; i < kReadsAtOnce; ++i) {
      alignas(inotify_event) std::array<char, 64U << 10U> buffer;  // NOLINT: filled by read
      const ssize_t n =
          retry_eintr([&] { return ::read(inotify_.get(), buffer.data(), buffer.size()); });
      if (n < 0 && errno == EAGAIN) break;
      if (n < 0) return posix_error(errno, fmt::format("watch {}", root_));
      std::string_view rest(buffer.data(), static_cast<std::size_t>(n));
      while (!rest.empty()) {
        inotify_event event{};
        std::memcpy(&event, rest.data(), sizeof event);
        const std::string_view padded = rest.substr(sizeof event, event.len);  // with zeros
        const std::string name(padded.substr(0, padded.find('\0')));
        rest.remove_prefix(sizeof event + event.len);
        if ((event.mask & IN_Q_OVERFLOW) != 0) return start_again();
        OUTLAST_TRY(take(event, name, changed));
      }
    }
    return FileChanges{.overflowed = false, .paths = {changed.begin(), changed.end()}};
  }

  Result<void> take(const inotify_event& event, const std::string& name,
                    std::set<std::string>& changed) {
    const auto found = paths_.find(event.wd);
    if (found == paths_.end()) return {};  // of a folder that has been forgotten
    const std::string folder = found->second;
    if (name.empty()) {  // about the watched folder itself
      if (folder == root_ && (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("watch {}: the folder is no longer there", root_));
      }
      if ((event.mask & IN_IGNORED) != 0) {
        // A folder that has the name by now has another watch.
        if (const auto at = numbers_.find(folder); at != numbers_.end() && at->second == event.wd) {
          numbers_.erase(at);
        }
        paths_.erase(event.wd);
      }
      return {};
    }
    const std::string path = below(folder, name);
    if ((event.mask & IN_ISDIR) == 0) {
      changed.insert(path);
      return {};
    }
    if (leave_out_ && leave_out_(path)) return {};
    changed.insert(path);
    if ((event.mask & (IN_MOVED_FROM | IN_DELETE)) != 0) forget(path);
    if ((event.mask & (IN_MOVED_TO | IN_CREATE)) != 0) OUTLAST_TRY(watch_new(path, &changed));
    return {};
  }

  // Events were lost: also those of new folders, which nobody watches now.
  Result<FileChanges> start_again() {
    OUTLAST_TRY(watch_all());
    return FileChanges{.overflowed = true, .paths = {}};
  }

  static std::string below(const std::string& folder, const std::string& name) {
    return folder.ends_with('/') ? folder + name : folder + "/" + name;
  }

  Fd inotify_;
  const std::string root_;
  const std::function<bool(const std::string& path)> leave_out_;
  std::map<int, std::string> paths_;    // of the watched folders, by the number of the watch
  std::map<std::string, int> numbers_;  // the other way round
  std::optional<Error> failure_;        // once it has failed
};

class PosixFileWatches : public FileWatches {
 public:
  Result<std::unique_ptr<FileWatch>> watch(
      const std::string& folder, std::function<bool(const std::string& path)> leave_out) override {
    auto watch = std::make_unique<PosixFileWatch>(folder, std::move(leave_out));
    OUTLAST_TRY(watch->watch_all());
    return watch;
  }
};

}  // namespace

std::unique_ptr<FileWatches> make_posix_file_watches() {
  return std::make_unique<PosixFileWatches>();
}

}  // namespace outlast::sys
