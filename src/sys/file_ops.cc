#include "sys/file_ops.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/units.h"
#include "sys/file_system.h"

namespace outlast::sys {
namespace {

// That a folder exists does not make it durable: whoever made it may have failed to sync, or not
// have come to it yet. Those above it are durable, because a folder is made only once its parent
// is. A parent that we may not even open was not made by us.
Result<void> sync_existing(FileSystem& fs, const std::string& parent) {
  Result<void> synced = fs.sync_dir(parent);
  if (!synced && synced.error().code() == ErrorCode::kPermissionDenied) return {};
  return synced;
}

}  // namespace

std::string join_path(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/')) return std::string(name);
  std::string path(folder);
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

std::string parent_path(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

Result<std::string> read_file(FileSystem& fs, const std::string& path, std::uint64_t bytes_max) {
  constexpr std::size_t kPiece = 64U << 10U;
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<File> file, fs.open(path, OpenMode::kRead));
  OUTLAST_TRY_ASSIGN(const std::uint64_t size, file->size());
  const auto too_large = [&] {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} is larger than {}", path, format_bytes_short(bytes_max)));
  };
  if (size > bytes_max) return too_large();
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const auto piece = std::as_writable_bytes(std::span(text.data() + before, kPiece));
    OUTLAST_TRY_ASSIGN(const std::size_t n, file->read_at(piece, before));
    text.resize(before + n);
    if (text.size() > bytes_max) return too_large();
    if (n < kPiece) return text;  // short only at the end
  }
}

Result<void> write_file_atomically(FileSystem& fs, const std::string& path, BytesView bytes) {
  const std::string draft = path + ".tmp";
  {
    OUTLAST_TRY_ASSIGN(const std::unique_ptr<File> file, fs.open(draft, OpenMode::kTruncate));
    OUTLAST_TRY(file->write_at(bytes, 0));
    OUTLAST_TRY(file->sync());
  }
  OUTLAST_TRY(fs.rename(draft, path));
  return fs.sync_dir(parent_path(path));
}

Result<void> make_dirs(FileSystem& fs, const std::string& path) {
  const std::string parent = parent_path(path);
  const Result<FileInfo> info = fs.stat(path);
  if (info && info->type == FileType::kDirectory) {
    return sync_existing(fs, parent);
  }
  if (!info && info.error().code() == ErrorCode::kNotFound && parent != path) {
    OUTLAST_TRY(make_dirs(fs, parent));
  }
  const Result<void> made = fs.make_dir(path);
  if (!made && made.error().code() == ErrorCode::kAlreadyExists) {
    // Somebody else made it meanwhile, or it is a symlink to a folder; anything else cannot be
    // used.
    OUTLAST_TRY(fs.list(path));
    return sync_existing(fs, parent);
  }
  OUTLAST_TRY(made);
  return fs.sync_dir(parent);
}

Result<void> remove_tree(FileSystem& fs, const std::string& path) {
  const Result<FileInfo> info = fs.stat(path);
  if (!info && info.error().code() == ErrorCode::kNotFound) return {};
  OUTLAST_TRY(info);
  if (info->type != FileType::kDirectory) return fs.remove_file(path);
  OUTLAST_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, fs.list(path));
  for (const DirectoryEntry& entry : entries)
    OUTLAST_TRY(remove_tree(fs, join_path(path, entry.name)));
  return fs.remove_dir(path);
}

}  // namespace outlast::sys
