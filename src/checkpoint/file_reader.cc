#include "checkpoint/file_reader.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

// More than the step in which file systems on disks let the time of change move.
constexpr Duration kStep = std::chrono::milliseconds(20);
constexpr int kLooksMax = 5;

bool same_file(const sys::FileInfo& a, const sys::FileInfo& b) {
  return a.type == b.type && a.device == b.device && a.inode == b.inode;
}

bool same_state(const sys::FileInfo& a, const sys::FileInfo& b) {
  return same_file(a, b) && a.size == b.size && a.modified == b.modified && a.changed == b.changed;
}

// Two changes in one step leave the same time: the one that was seen must be past before reading
// begins, or the next, in the middle of it, would go unnoticed. A file server whose clock is ahead
// cannot be judged like this, and one whose file never rests will be found changed in the end.
Result<sys::FileInfo> settled_info(sys::File& file, sys::Clock& clock) {
  for (int look = 1;; ++look) {
    OUTLAST_TRY_ASSIGN(const sys::FileInfo info, file.info());
    const Duration age = clock.wall_now() - info.changed;
    if (age < Duration::zero() || age > kStep || look == kLooksMax) return info;
    OUTLAST_TRY(clock.sleep_for(kStep, {}));
  }
}

}  // namespace

FileReader::FileReader(sys::FileSystem& files, std::string path, std::unique_ptr<sys::File> file,
                       const sys::FileInfo& info)
    : files_(files), path_(std::move(path)), file_(std::move(file)), info_(info) {}

Result<std::unique_ptr<FileReader>> FileReader::open(sys::FileSystem& files, sys::Clock& clock,
                                                     const std::string& path) {
  const auto is_another = [&] {
    return Error(ErrorCode::kConditionFailed,
                 fmt::format("'{}' is not the file any more that was to be saved", path));
  };
  // Before it is opened: a pipe would wait for a writer, and a symlink be followed.
  const Result<sys::FileInfo> named = files.stat(path);
  if (!named && named.error().code() == ErrorCode::kNotFound) return is_another();
  OUTLAST_TRY(named);
  if (named->type != sys::FileType::kFile) return is_another();
  Result<std::unique_ptr<sys::File>> file = files.open(path, sys::OpenMode::kRead);
  if (!file && file.error().code() == ErrorCode::kNotFound) return is_another();
  if (!file) return file.error();
  OUTLAST_TRY_ASSIGN(const sys::FileInfo info, settled_info(**file, clock));
  if (!same_file(*named, info)) return is_another();
  return std::unique_ptr<FileReader>(new FileReader(files, path, *std::move(file), info));
}

Result<void> FileReader::read(std::span<std::byte> buffer, std::uint64_t offset) {
  OUTLAST_TRY_ASSIGN(const std::size_t got, file_->read_at(buffer, offset));
  if (got != buffer.size()) return changed();
  return {};
}

Result<void> FileReader::check_unchanged() {
  OUTLAST_TRY_ASSIGN(const sys::FileInfo now, file_->info());
  if (!same_state(info_, now)) return changed();
  const Result<sys::FileInfo> named = files_.stat(path_);
  if (!named && named.error().code() == ErrorCode::kNotFound) return changed();
  OUTLAST_TRY(named);
  if (!same_file(info_, *named)) return changed();
  return {};
}

Error FileReader::changed() const {
  return {ErrorCode::kConditionFailed,
          fmt::format("'{}' changed while it was read; save it when nobody writes to it", path_)};
}

}  // namespace outlast::checkpoint
