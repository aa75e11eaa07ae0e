#include "sdk/file_writer.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "sdk/own_fd.h"
#include "sdk/say.h"
#include "sdk/snapshots.h"

namespace outlast::sdk {
namespace {

constexpr std::size_t kWaitingMax = 1U << 20U;
constexpr std::size_t kWriteMax = 1U << 30U;  // Linux takes little more at once
constexpr mode_t kFileMode = 0644;

}  // namespace

void fail_file(std::string_view what, const std::string& path, int error_number) {
  throw SnapshotError("cannot " + std::string(what) + " " + path + ": " + error_text(error_number) +
                      "; make room, or name another SnapshotOptions::folder");
}

FileWriter::FileWriter(std::string path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode)) {
  if (!file_) fail_file("write", path_, errno);
}

FileWriter::~FileWriter() {
  if (!is_finished_) ::unlink(path_.c_str());
}

void FileWriter::write(std::string_view bytes) {
  if (waiting_.size() + bytes.size() > kWaitingMax) {
    put(waiting_);
    waiting_.clear();
  }
  if (bytes.size() > kWaitingMax) {
    put(bytes);
  } else {
    waiting_ += bytes;
  }
}

void FileWriter::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), std::min(bytes.size(), kWriteMax));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_file("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void FileWriter::finish(const std::string& name) {
  put(waiting_);
  waiting_.clear();
  if (::fsync(file_.get()) != 0) fail_file("sync", path_, errno);
  if (std::rename(path_.c_str(), name.c_str()) != 0) fail_file("rename", path_, errno);
  is_finished_ = true;
}

void sync_folder(const std::string& folder) {
  const OwnFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) fail_file("sync the folder", folder, errno);
}

}  // namespace outlast::sdk
