#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "sys/clock.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {

// A file that is saved while others may write to it: what was read counts only if check_unchanged()
// says so afterwards. Thread-safe.
class FileReader {
 public:
  // A plain file, not through a symlink. kConditionFailed if it is none any more. Waits for a
  // moment if it changed just now, until the next change would show in its times.
  static Result<std::unique_ptr<FileReader>> open(sys::FileSystem& files, sys::Clock& clock,
                                                  const std::string& path);

  // As it was before the first read.
  const sys::FileInfo& info() const { return info_; }
  // Fills all of `buffer`. kConditionFailed if the file has become shorter.
  Result<void> read(std::span<std::byte> buffer, std::uint64_t offset);
  // The same as memory; see sys::FileMap for when that is safe.
  Result<std::unique_ptr<sys::FileMap>> map() { return file_->map(); }
  // For whoever reads in ways of their own.
  sys::File& file() { return *file_; }
  // After the last read: kConditionFailed if what was read may be a mixture, or if the path leads
  // to another file by now. A change so shortly after another that both have one time is missed;
  // see identity_of().
  Result<void> check_unchanged();

 private:
  FileReader(sys::FileSystem& files, std::string path, std::unique_ptr<sys::File> file,
             const sys::FileInfo& info);
  Error changed() const;

  sys::FileSystem& files_;
  const std::string path_;
  const std::unique_ptr<sys::File> file_;
  const sys::FileInfo info_;
};

}  // namespace outlast::checkpoint
