#include "sdk/folder_lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "sdk/file_writer.h"
#include "sdk/own_fd.h"
#include "sdk/own_rank.h"
#include "sdk/say.h"
#include "sdk/snapshots.h"

namespace outlast::sdk {
namespace {

constexpr mode_t kLockMode = 0644;

// All of this process. Neither has a destructor: trainers may keep their snapshots in a static.
constinit std::mutex list_mutex;
constinit FolderLock* first = nullptr;

}  // namespace

// A flock belongs to all who share the open file. A worker that the trainer has forked, and that
// lives on when the trainer is killed, would keep it.
void FolderLock::close_in_child() {
  for (FolderLock* lock = first; lock != nullptr; lock = lock->next_) lock->file_ = OwnFd();
  list_mutex.unlock();
}

FolderLock::FolderLock(const std::string& folder, OwnRank own)
    : path_(folder + "/.rank-" + std::to_string(own.rank) + "-of-" + std::to_string(own.ranks) +
            ".lock") {
  static const int watches_forks = ::pthread_atfork(
      [] { list_mutex.lock(); }, [] { list_mutex.unlock(); }, &FolderLock::close_in_child);
  if (watches_forks != 0) fail_file("lock", path_, watches_forks);
  const std::lock_guard guard(list_mutex);
  file_ = OwnFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kLockMode));
  if (!file_) fail_file("write", path_, errno);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      throw SnapshotError(other_owner() + " saves rank " + std::to_string(own.rank) + " of " +
                          std::to_string(own.ranks) + " in " + folder +
                          ": give another folder, or the right rank");
    }
    say("cannot lock " + path_ + " (" + error_text(errno) +
        "): see to it that no other process saves rank " + std::to_string(own.rank) + " there");
    file_ = OwnFd();
  } else {
    const std::string pid = std::to_string(::getpid());
    const bool is_written =
        ::ftruncate(file_.get(), 0) == 0 &&
        ::pwrite(file_.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
    if (!is_written) fail_file("write", path_, errno);
  }
  next_ = first;
  first = this;
}

FolderLock::~FolderLock() {
  const std::lock_guard guard(list_mutex);
  FolderLock** link = &first;
  while (*link != nullptr && *link != this) link = &(*link)->next_;
  if (*link == this) *link = next_;
}

// A pid does not tell: in two containers with one folder it is often the same.
bool FolderLock::is_held_here() const {
  for (const FolderLock* lock = first; lock != nullptr; lock = lock->next_) {
    if (lock->path_ == path_) return true;
  }
  return false;
}

std::string FolderLock::other_owner() const {
  std::array<char, 16> text{};
  const ssize_t bytes = ::pread(file_.get(), text.data(), text.size(), 0);
  const std::string_view found(text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  const std::string_view pid = found.substr(0, found.find_first_not_of("0123456789"));
  const std::string who = is_held_here() ? "another Snapshots of this process" : "another process";
  return pid.empty() ? who : who + " (pid " + std::string(pid) + ")";
}

}  // namespace outlast::sdk
