#include "checkpoint/open_parts.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

constexpr std::size_t kOpenMax = 200;  // of the 1,024 that a process usually may have

}  // namespace

Result<std::shared_ptr<sys::File>> OpenParts::open(std::size_t number, const std::string& path) {
  {
    const MutexLock lock(mutex_);
    if (const auto found = open_.find(number); found != open_.end()) return found->second;
  }
  OUTLAST_TRY_ASSIGN(std::shared_ptr<sys::File> file, files_.open(path, sys::OpenMode::kWrite));
  add(number, file);
  return file;
}

void OpenParts::add(std::size_t number, std::shared_ptr<sys::File> file) {
  std::vector<std::shared_ptr<sys::File>> closed;  // when the lock is no longer held
  const MutexLock lock(mutex_);
  if (!open_.insert_or_assign(number, std::move(file)).second) return;
  order_.push_back(number);
  while (open_.size() > kOpenMax) {
    const auto oldest = open_.find(order_.front());
    order_.pop_front();
    if (oldest == open_.end()) continue;  // closed by its user
    closed.push_back(std::move(oldest->second));
    open_.erase(oldest);
  }
}

void OpenParts::close(std::size_t number) {
  std::shared_ptr<sys::File> closed;
  const MutexLock lock(mutex_);
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  closed = std::move(found->second);
  open_.erase(found);
}

}  // namespace outlast::checkpoint
