#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "base/result.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {

// Files that are being written, by a number: many more than may be open at once. Those used last
// stay open. Thread-safe.
class OpenParts {
 public:
  explicit OpenParts(sys::FileSystem& files) : files_(files) {}

  // Opened again if it had to be closed. Shared by the worker that uses it and, until it is closed,
  // by this.
  Result<std::shared_ptr<sys::File>> open(std::size_t number, const std::string& path);
  // One that was just made.
  void add(std::size_t number, std::shared_ptr<sys::File> file);
  void close(std::size_t number);

 private:
  sys::FileSystem& files_;
  Mutex mutex_;
  std::unordered_map<std::size_t, std::shared_ptr<sys::File>> open_ OUTLAST_GUARDED_BY(mutex_);
  std::deque<std::size_t> order_ OUTLAST_GUARDED_BY(mutex_);  // as they were opened
};

}  // namespace outlast::checkpoint
