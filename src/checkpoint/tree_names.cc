#include "checkpoint/tree_names.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

constexpr std::string_view kPart = ".outlast-part";
// Of an interrupted copy: what it has of the file.
constexpr std::string_view kJournal = ".outlast-parts";
constexpr std::size_t kNameBytesMax = 255;  // what Linux's file systems take
constexpr int kSymlinksMax = 40;

}  // namespace

bool is_our_name(std::string_view name) {
  return name == kRestoreMark || name.ends_with(kPart) || name.ends_with(kJournal);
}

std::string part_path(const std::string& path) {
  const std::string_view name = sys::base_name(path);
  if (name.size() + kPart.size() <= kNameBytesMax) return fmt::format("{}{}", path, kPart);
  const std::string digest = sha256(as_bytes(name)).hex();
  return sys::join_path(sys::parent_path(path), fmt::format("{}{}", digest, kPart));
}

Result<std::string> follow_given_path(sys::FileSystem& files, const std::string& path) {
  std::string at = path;
  while (at.size() > 1 && at.ends_with('/')) at.pop_back();
  for (int symlinks = 0; symlinks <= kSymlinksMax; ++symlinks) {
    const Result<sys::FileInfo> info = files.stat(at);
    if (!info && info.error().code() == ErrorCode::kNotFound) return at;
    OUTLAST_TRY(info);
    if (info->type != sys::FileType::kSymlink) return at;
    OUTLAST_TRY_ASSIGN(const std::string target, files.read_symlink(at));
    at = sys::join_path(sys::parent_path(at), target);
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("'{}' leads through symlinks in a circle", path));
}

Result<void> remove_whatever_is_at(sys::FileSystem& files, const std::string& path,
                                   const sys::CallContext& ctx) {
  OUTLAST_TRY(check_not_stopped(ctx, "remove"));
  const Result<sys::FileInfo> info = files.stat(path);
  if (!info && info.error().code() == ErrorCode::kNotFound) return {};
  OUTLAST_TRY(info);
  if (info->type != sys::FileType::kDirectory) return files.remove_file(path);
  if ((info->mode & 0700U) != 0700U) OUTLAST_TRY(files.set_mode(path, 0700));
  OUTLAST_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries, files.list(path));
  for (const sys::DirectoryEntry& entry : entries) {
    OUTLAST_TRY(remove_whatever_is_at(files, sys::join_path(path, entry.name), ctx));
  }
  return files.remove_dir(path);
}

Result<void> check_not_stopped(const sys::CallContext& ctx, std::string_view what) {
  if (!ctx.stop.stop_requested()) return {};
  return Error(ErrorCode::kCancelled, fmt::format("{}: stopped before it was done", what));
}

}  // namespace outlast::checkpoint
