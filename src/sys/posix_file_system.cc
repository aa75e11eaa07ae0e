#include "sys/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
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
#include "sys/file_system.h"
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
    return FileInfo{.type = type_of(info.st_mode),
                    .size = static_cast<std::uint64_t>(info.st_size),
                    .modified = WallTime(std::chrono::seconds(info.st_mtim.tv_sec) +
                                         std::chrono::nanoseconds(info.st_mtim.tv_nsec)),
                    .mode = info.st_mode & 07777U,
                    .inode = info.st_ino,
                    .links = info.st_nlink};
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
      OUTLAST_TRY_ASSIGN(const FileType type, entry_type(path, *entry));
      entries.push_back({.name = std::string(name), .type = type});
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

 private:
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
};

}  // namespace

std::unique_ptr<FileSystem> make_posix_file_system() {
  return std::make_unique<PosixFileSystem>();
}

}  // namespace outlast::sys
