#include "sys/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
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
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/posix_clock.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"

namespace outlast::sys {
namespace {

Error failed(std::string_view call, const std::string& path) {
  const int error_number = errno;  // before fmt can change it
  return posix_error(error_number, fmt::format("{} {}", call, path));
}

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::kFile;
  if (S_ISDIR(mode)) return FileType::kDirectory;
  if (S_ISLNK(mode)) return FileType::kSymlink;
  return FileType::kOther;
}

FileInfo info_of(const struct stat& info) {
  return {.type = type_of(info.st_mode),
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified = WallTime(std::chrono::seconds(info.st_mtim.tv_sec) +
                               std::chrono::nanoseconds(info.st_mtim.tv_nsec)),
          .mode = info.st_mode & 07777U,
          .inode = info.st_ino,
          .links = info.st_nlink};
}

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

class PosixFile : public File {
 public:
  PosixFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t offset) override {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const ssize_t n = retry_eintr(
          [&] { return read_some(buffer.subspan(done), static_cast<off_t>(offset + done)); });
      if (n < 0) return failed("read", path_);
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  Result<void> write_at(BytesView bytes, std::uint64_t offset) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = retry_eintr([&] {
        return ::pwrite(fd_.get(), bytes.data() + done, bytes.size() - done,
                        static_cast<off_t>(offset + done));
      });
      if (n < 0) return failed("write", path_);
      done += static_cast<std::size_t>(n);
    }
    return {};
  }

  Result<void> truncate(std::uint64_t size) override {
    if (retry_eintr([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0) {
      return failed("truncate", path_);
    }
    return {};
  }

  Result<std::uint64_t> size() override {
    struct stat info{};
    if (::fstat(fd_.get(), &info) != 0) return failed("stat", path_);
    return static_cast<std::uint64_t>(info.st_size);
  }

  Result<FileInfo> info() override {
    struct stat info{};
    if (::fstat(fd_.get(), &info) != 0) return failed("stat", path_);
    return info_of(info);
  }

  Result<void> set_modified(WallTime when) override {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(when.time_since_epoch());
    const Duration rest = when.time_since_epoch() - seconds;
    const std::array<timespec, 2> times = {
        timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
        timespec{.tv_sec = seconds.count(), .tv_nsec = rest.count()}};
    if (::futimens(fd_.get(), times.data()) != 0) return failed("set the time of", path_);
    return {};
  }

  // Not retried: after a failure the kernel may have marked the lost pages clean.
  Result<void> sync() override {
    if (::fsync(fd_.get()) != 0) return failed("sync", path_);
    return {};
  }

 private:
  // A pipe (standard input, often) has no offsets: it gives what comes next.
  ssize_t read_some(std::span<std::byte> buffer, off_t offset) const {
    const ssize_t n = ::pread(fd_.get(), buffer.data(), buffer.size(), offset);
    return n < 0 && errno == ESPIPE ? ::read(fd_.get(), buffer.data(), buffer.size()) : n;
  }

  Fd fd_;
  std::string path_;
};

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
    if (!fd) return failed("open", path);
    return std::make_unique<PosixFile>(std::move(fd), path);
  }

  Result<FileInfo> stat(const std::string& path) override {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return failed("stat", path);
    return info_of(info);
  }

  Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
    if (!dir) return failed("list", path);
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
    if (errno != 0) return failed("list", path);
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
  }

  Result<void> make_dir(const std::string& path) override {
    if (::mkdir(path.c_str(), 0777) != 0) return failed("make folder", path);
    return {};
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return failed("rename " + from + " to", to);
    return {};
  }

  Result<void> link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) != 0) return failed("link " + from + " to", to);
    return {};
  }

  Result<void> remove_file(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return failed("remove", path);
    return {};
  }

  Result<void> set_mode(const std::string& path, std::uint32_t mode) override {
    if (::chmod(path.c_str(), mode) != 0) return failed("set permissions of", path);
    return {};
  }

  Result<void> remove_dir(const std::string& path) override {
    if (::rmdir(path.c_str()) != 0) return failed("remove folder", path);
    return {};
  }

  Result<void> sync_dir(const std::string& path) override {
    const Fd fd(
        retry_eintr([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!fd) return failed("open folder", path);
    if (::fsync(fd.get()) != 0) return failed("sync folder", path);
    return {};
  }

  Result<DiskSpace> space(const std::string& path) override {
    struct statvfs info{};
    if (retry_eintr([&] { return ::statvfs(path.c_str(), &info); }) != 0) {
      return failed("ask the free space of", path);
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
    if (!fd) return failed("open", path);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (retry_eintr([&] { return ::fcntl(fd.get(), F_OFD_SETLK, &whole); }) != 0) {
      if (errno == EAGAIN || errno == EACCES) return Fd();
      return failed("lock", path);
    }
    // The name may lead to another file by now, which others lock: then this one is worth nothing.
    struct stat locked{};
    struct stat named{};
    if (::fstat(fd.get(), &locked) != 0) return failed("stat", path);
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
