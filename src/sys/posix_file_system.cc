#include "sys/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/posix_clock.h"
#include "sys/posix_fd.h"
#include "sys/posix_file.h"

namespace outlast::sys {
namespace {

int flags_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY;
    case OpenMode::kWrite:
      return O_RDWR;
    case OpenMode::kCreate:
      return O_RDWR | O_CREAT;
    case OpenMode::kCreateExclusive:
      return O_RDWR | O_CREAT | O_EXCL;
    case OpenMode::kTruncate:
      return O_RDWR | O_CREAT | O_TRUNC;
  }
  return O_RDONLY;
}

// A lock of the open file description: closing it gives it back, and so does the end of the
// process, however it comes.
class PosixFileLock : public FileLock {
 public:
  explicit PosixFileLock(Fd fd) : fd_(std::move(fd)) {}

 private:
  Fd fd_;
};

class PosixFileSystem : public FileSystem {
 public:
  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    Fd fd(retry_eintr([&] { return ::open(path.c_str(), flags_of(mode) | O_CLOEXEC, 0666); }));
    if (!fd) return file_call_failed("open", path);
    return make_posix_file(std::move(fd), path);
  }

  Result<FileInfo> stat(const std::string& path) override {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return file_call_failed("stat", path);
    return posix_file_info(info);
  }

  Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
    if (!dir) return file_call_failed("list", path);
    std::vector<DirectoryEntry> entries;
    errno = 0;
    for (const dirent* entry = ::readdir(dir.get()); entry != nullptr;
         errno = 0, entry = ::readdir(dir.get())) {
      const std::string_view name = static_cast<const char*>(entry->d_name);
      if (name == "." || name == "..") continue;
      const Result<FileType> type = entry_type(path, *entry);
      if (!type && type.error().code() == ErrorCode::kNotFound) continue;  // gone by now
      OUTLAST_TRY(type);
      entries.push_back({.name = std::string(name), .type = *type});
    }
    if (errno != 0) return file_call_failed("list", path);
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
  }

  Result<void> make_dir(const std::string& path) override {
    if (::mkdir(path.c_str(), 0777) != 0) return file_call_failed("make folder", path);
    return {};
  }

  Result<void> make_symlink(const std::string& target, const std::string& path) override {
    if (::symlink(target.c_str(), path.c_str()) != 0) return file_call_failed("make symlink", path);
    return {};
  }

  Result<std::string> read_symlink(const std::string& path) override {
    std::string target(PATH_MAX, '\0');  // no symlink is longer
    const ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
    if (n < 0) return file_call_failed("read symlink", path);
    target.resize(static_cast<std::size_t>(n));
    return target;
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0)
      return file_call_failed("rename " + from + " to", to);
    return {};
  }

  Result<void> link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) != 0) return file_call_failed("link " + from + " to", to);
    return {};
  }

  Result<void> remove_file(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return file_call_failed("remove", path);
    return {};
  }

  Result<void> set_mode(const std::string& path, std::uint32_t mode) override {
    if (::chmod(path.c_str(), mode) != 0) return file_call_failed("set permissions of", path);
    return {};
  }

  Result<void> set_modified(const std::string& path, WallTime when) override {
    const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                                           posix_time(when)};
    if (::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
      return file_call_failed("set the time of", path);
    }
    return {};
  }

  Result<void> remove_dir(const std::string& path) override {
    if (::rmdir(path.c_str()) != 0) return file_call_failed("remove folder", path);
    return {};
  }

  Result<void> sync_dir(const std::string& path) override {
    const Fd fd(
        retry_eintr([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!fd) return file_call_failed("open folder", path);
    if (::fsync(fd.get()) != 0) return file_call_failed("sync folder", path);
    return {};
  }

  Result<DiskSpace> space(const std::string& path) override {
    struct statvfs info{};
    if (retry_eintr([&] { return ::statvfs(path.c_str(), &info); }) != 0) {
      return file_call_failed("ask the free space of", path);
    }
    return DiskSpace{.total_bytes = std::uint64_t{info.f_blocks} * info.f_frsize,
                     .available_bytes = std::uint64_t{info.f_bavail} * info.f_frsize};
  }

  // Asks again and again, because the call that waits could be ended by nothing but a signal.
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, const CallContext& ctx) override {
    constexpr Duration kPauseMax = std::chrono::milliseconds(10);
    Duration pause = std::chrono::microseconds(100);
    if (ctx.stop.stop_requested()) {
      return Error(ErrorCode::kCancelled, fmt::format("lock {}: stopped before it began", path));
    }
    if (clock_->mono_now() >= ctx.deadline) {
      return Error(ErrorCode::kDeadlineExceeded,
                   fmt::format("lock {}: the deadline passed before it began", path));
    }
    while (true) {
      OUTLAST_TRY_ASSIGN(Fd fd, try_lock(path));
      if (fd) return std::make_unique<PosixFileLock>(std::move(fd));
      OUTLAST_TRY(clock_->sleep_for(pause, ctx).while_doing("wait for the lock " + path));
      pause = std::min(2 * pause, kPauseMax);
    }
  }

 private:
  // The locked file; no descriptor if somebody else has it.
  Result<Fd> try_lock(const std::string& path) {
    Fd fd(retry_eintr([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666); }));
    if (!fd) return file_call_failed("open", path);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (retry_eintr([&] { return ::fcntl(fd.get(), F_OFD_SETLK, &whole); }) != 0) {
      if (errno == EAGAIN || errno == EACCES) return Fd();
      return file_call_failed("lock", path);
    }
    // The name may lead to another file by now, which others lock: then this one is worth nothing.
    struct stat locked{};
    struct stat named{};
    if (::fstat(fd.get(), &locked) != 0) return file_call_failed("stat", path);
    if (::stat(path.c_str(), &named) != 0 || named.st_ino != locked.st_ino ||
        named.st_dev != locked.st_dev) {
      return Fd();
    }
    return fd;
  }

  // Most file systems tell the type with the name; some answer "unknown" and must be asked.
  Result<FileType> entry_type(const std::string& folder, const dirent& entry) {
    switch (entry.d_type) {
      case DT_REG:
        return FileType::kFile;
      case DT_DIR:
        return FileType::kDirectory;
      case DT_LNK:
        return FileType::kSymlink;
      case DT_UNKNOWN:
        break;
      default:
        return FileType::kOther;
    }
    OUTLAST_TRY_ASSIGN(const FileInfo info,
                       stat(folder + "/" + static_cast<const char*>(entry.d_name)));
    return info.type;
  }

  const std::unique_ptr<Clock> clock_ = make_posix_clock();
};

}  // namespace

std::unique_ptr<FileSystem> make_posix_file_system() {
  return std::make_unique<PosixFileSystem>();
}

}  // namespace outlast::sys
