#include "sys/posix_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/file_system.h"
#include "sys/posix_error.h"
#include "sys/posix_fd.h"

namespace outlast::sys {
namespace {

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::kFile;
  if (S_ISDIR(mode)) return FileType::kDirectory;
  if (S_ISLNK(mode)) return FileType::kSymlink;
  return FileType::kOther;
}

WallTime wall_time(const timespec& time) {
  return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

class PosixFileMap : public FileMap {
 public:
  PosixFileMap(void* start, std::size_t bytes) : start_(start), bytes_(bytes) {}
  ~PosixFileMap() override {
    if (start_ != nullptr) ::munmap(start_, bytes_);
  }
  PosixFileMap(const PosixFileMap&) = delete;
  PosixFileMap& operator=(const PosixFileMap&) = delete;

  BytesView bytes() const override { return {static_cast<const std::byte*>(start_), bytes_}; }

 private:
  void* const start_;
  const std::size_t bytes_;
};

class PosixFile : public File {
 public:
  PosixFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::span<std::byte> buffer, std::uint64_t offset) override {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const ssize_t n = retry_eintr(
          [&] { return read_some(buffer.subspan(done), static_cast<off_t>(offset + done)); });
      if (n < 0) return file_call_failed("read", path_);
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
      if (n < 0) return file_call_failed("write", path_);
      done += static_cast<std::size_t>(n);
    }
    return {};
  }

  Result<void> truncate(std::uint64_t size) override {
    if (retry_eintr([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0) {
      return file_call_failed("truncate", path_);
    }
    return {};
  }

  Result<std::uint64_t> size() override {
    struct stat info{};
    if (::fstat(fd_.get(), &info) != 0) return file_call_failed("stat", path_);
    return static_cast<std::uint64_t>(info.st_size);
  }

  Result<FileInfo> info() override {
    struct stat info{};
    if (::fstat(fd_.get(), &info) != 0) return file_call_failed("stat", path_);
    return posix_file_info(info);
  }

  Result<void> set_modified(WallTime when) override {
    const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                                           posix_time(when)};
    if (::futimens(fd_.get(), times.data()) != 0) return file_call_failed("set the time of", path_);
    return {};
  }

  // Where there is no such call, or not for such a file, sync() does the whole work.
  void start_writeback(std::uint64_t offset, std::uint64_t length) override {
    (void)::sync_file_range(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(length),
                            SYNC_FILE_RANGE_WRITE);
  }

  Result<std::unique_ptr<FileMap>> map() override {
    OUTLAST_TRY_ASSIGN(const std::uint64_t bytes, size());
    if (bytes == 0) return std::make_unique<PosixFileMap>(nullptr, 0);  // the call refuses this
    void* const start = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (start == MAP_FAILED) return file_call_failed("map", path_);
    return std::make_unique<PosixFileMap>(start, bytes);
  }

  // Not retried: after a failure the kernel may have marked the lost pages clean.
  Result<void> sync() override {
    if (::fsync(fd_.get()) != 0) return file_call_failed("sync", path_);
    return {};
  }

  Result<void> sync_file_system() override {
    if (::syncfs(fd_.get()) != 0) return file_call_failed("sync the file system of", path_);
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

}  // namespace

Error file_call_failed(std::string_view call, const std::string& path) {
  const int error_number = errno;  // before fmt can change it
  return posix_error(error_number, fmt::format("{} {}", call, path));
}

FileInfo posix_file_info(const struct stat& info) {
  return {.type = type_of(info.st_mode),
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified = wall_time(info.st_mtim),
          .changed = wall_time(info.st_ctim),
          .mode = info.st_mode & 07777U,
          .device = info.st_dev,
          .inode = info.st_ino,
          .links = info.st_nlink};
}

struct timespec posix_time(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const Duration rest = time.time_since_epoch() - seconds;
  return {.tv_sec = seconds.count(), .tv_nsec = rest.count()};
}

std::unique_ptr<File> make_posix_file(Fd fd, std::string path) {
  return std::make_unique<PosixFile>(std::move(fd), std::move(path));
}

}  // namespace outlast::sys
