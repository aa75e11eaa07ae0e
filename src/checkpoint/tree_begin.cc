// How a TreeTarget begins: first nothing is touched, then the mark, then folders.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/units.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tree_names.h"
#include "checkpoint/tree_plan.h"
#include "checkpoint/tree_target.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {
namespace {

constexpr std::string_view kMarkText =
    "outlast has begun to restore a checkpoint into this folder and has not finished.\n"
    "What is in it is incomplete. Restore again, or remove the folder.\n";
constexpr std::uint32_t kOwnerMayAll = 0700;

bool is_not_found(const Error& error) {
  return error.code() == ErrorCode::kNotFound;
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

Result<std::unique_ptr<TreeTarget>> TreeTarget::begin(sys::FileSystem& files,
                                                      std::span<const Manifest> manifests,
                                                      const std::string& folder,
                                                      const Options& options,
                                                      const sys::CallContext& ctx) {
  const auto run = [&]() -> Result<std::unique_ptr<TreeTarget>> {
    OUTLAST_TRY_ASSIGN(TreePlan plan, plan_tree(manifests));
    OUTLAST_TRY_ASSIGN(std::string root, follow_given_path(files, folder));
    std::unique_ptr<TreeTarget> target(
        new TreeTarget(files, manifests, std::move(plan), std::move(root), options));
    OUTLAST_TRY(target->look_at_root(ctx));
    OUTLAST_TRY(target->look_at_the_way(ctx));
    OUTLAST_TRY(target->check_space(ctx));
    OUTLAST_TRY(target->make_mark(ctx));
    OUTLAST_TRY(target->make_folders(ctx));
    return target;
  };
  return run().while_doing(fmt::format("restore into '{}'", folder));
}

Result<void> TreeTarget::look_at_root(const sys::CallContext& ctx) {
  OUTLAST_TRY(check_not_stopped(ctx, "look at the folder"));
  const Result<sys::FileInfo> info = files_.stat(root_);
  if (!info && is_not_found(info.error())) {
    new_ = true;
    return {};
  }
  OUTLAST_TRY(info);
  if (info->type != sys::FileType::kDirectory) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is not a folder; name one, or a path where nothing is", root_));
  }
  const Result<sys::FileInfo> mark = files_.stat(mark_path());
  if (!mark && is_not_found(mark.error())) return {};
  OUTLAST_TRY(mark);
  if (mark->type != sys::FileType::kFile) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is in the way, and not from outlast; remove it", mark_path()));
  }
  was_restoring_ = true;
  return {};
}

// A folder where the checkpoint has a file may hold anything: it goes only if asked for, or if an
// unfinished restore may have made it.
Result<void> TreeTarget::look_at_the_way(const sys::CallContext& ctx) {
  if (new_ || options_.exact || was_restoring_) return {};
  const auto look = [&](const Item& item) -> Result<void> {
    OUTLAST_TRY(check_not_stopped(ctx, "look at the folder"));
    const std::string path = path_of(item.path);
    const Result<sys::FileInfo> info = files_.stat(path);
    if (!info || info->type != sys::FileType::kDirectory) return {};
    OUTLAST_TRY_ASSIGN(const auto inside, files_.list(path));
    if (inside.empty()) return {};
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is a folder with something in it, where the checkpoint has a {}; "
                    "move it away, or let it be removed with --exact",
                    path, to_string(item.kind)));
  };
  for (const PlannedFile& file : plan_.files) OUTLAST_TRY(look(*file.item));
  for (const Item* item : plan_.symlinks) OUTLAST_TRY(look(*item));
  for (const Item* item : plan_.hardlinks) OUTLAST_TRY(look(*item));
  return {};
}

// Nothing that has come into it since, unless it may be anything.
Result<void> TreeTarget::remove_folder_in_the_way(const std::string& path,
                                                  const sys::CallContext& ctx) {
  if (options_.exact || was_restoring_) return remove_whatever_is_at(files_, path, ctx);
  return files_.remove_dir(path);
}

// At least: a file that is there in the right length may be right or must be written anew, which
// takes room only until the old one goes.
Result<std::uint64_t> TreeTarget::bytes_to_come(const sys::CallContext& ctx) {
  std::unordered_set<std::string_view> there = {""};  // folders; not through a symlink
  for (const PlannedFolder& folder : plan_.folders) {
    if (new_ || !there.contains(parent_of(folder.path))) continue;
    const Result<sys::FileInfo> info = files_.stat(path_of(folder.path));
    if (info && info->type == sys::FileType::kDirectory) there.insert(folder.path);
  }
  std::uint64_t bytes = 0;
  for (const PlannedFile& file : plan_.files) {
    OUTLAST_TRY(check_not_stopped(ctx, "look at the folder"));
    std::uint64_t has = 0;
    if (!new_ && there.contains(parent_of(file.item->path))) {
      const std::string path = path_of(file.item->path);
      const Result<sys::FileInfo> info = files_.stat(path);
      if (info && info->type == sys::FileType::kFile) has = info->size;
    }
    bytes += file.stored_bytes - std::min(file.stored_bytes, has);
  }
  return bytes;
}

Result<void> TreeTarget::check_space(const sys::CallContext& ctx) {
  if (was_restoring_) return {};  // what the restore before this one has left is of use, or goes
  OUTLAST_TRY_ASSIGN(const std::uint64_t needed, bytes_to_come(ctx));
  std::string there = root_;
  for (Result<sys::DiskSpace> space = files_.space(there);; space = files_.space(there)) {
    const std::string above = sys::parent_path(there);
    if (!space && is_not_found(space.error()) && above != there) {
      there = above;
      continue;
    }
    OUTLAST_TRY(space);
    if (needed <= space->available_bytes) return {};
    return Error(ErrorCode::kNoSpace,
                 fmt::format("it needs {} more on the disk, which has {} left ({} and {} bytes); "
                             "free some space, or choose another folder",
                             format_bytes_short(needed), format_bytes_short(space->available_bytes),
                             needed, space->available_bytes));
  }
}

// Locked as long as this lives: two restores into one folder would write into each other's files.
// Where files cannot be locked, that is up to those who start them.
Result<void> TreeTarget::make_mark(const sys::CallContext& ctx) {
  OUTLAST_TRY(sys::make_dirs(files_, root_));
  Result<std::unique_ptr<sys::FileLock>> lock = files_.lock(mark_path(), ctx);
  const bool was_called_off = !lock && (lock.error().code() == ErrorCode::kCancelled ||
                                        lock.error().code() == ErrorCode::kDeadlineExceeded);
  if (was_called_off) return lock.error();
  if (lock) lock_ = *std::move(lock);
  OUTLAST_TRY_ASSIGN(mark_, files_.open(mark_path(), sys::OpenMode::kCreate));
  OUTLAST_TRY_ASSIGN(const std::uint64_t size, mark_->size());
  if (size > 0) {
    was_restoring_ = true;
  } else {
    OUTLAST_TRY(mark_->write_at(as_bytes(kMarkText), 0));
    OUTLAST_TRY(mark_->sync());
  }
  return files_.sync_dir(root_);  // also for one that was there: it may not be durable yet
}

// Each for us alone until it is finished: what is put into it may be for nobody else.
Result<void> TreeTarget::make_folders(const sys::CallContext& ctx) {
  for (const PlannedFolder& folder : plan_.folders) {
    OUTLAST_TRY(check_not_stopped(ctx, "make folders"));
    const std::string path = path_of(folder.path);
    Result<void> made = files_.make_dir(path);
    if (!made && made.error().code() == ErrorCode::kAlreadyExists) {
      OUTLAST_TRY_ASSIGN(const sys::FileInfo info, files_.stat(path));
      if (info.type == sys::FileType::kDirectory) {
        if ((info.mode & kOwnerMayAll) == kOwnerMayAll) continue;
        OUTLAST_TRY(files_.set_mode(path, info.mode | kOwnerMayAll));
        if (folder.item == nullptr) opened_up_.emplace(folder.path, info.mode);
        continue;
      }
      OUTLAST_TRY(files_.remove_file(path));
      made = files_.make_dir(path);
    }
    OUTLAST_TRY(made);
    if (folder.item != nullptr) OUTLAST_TRY(files_.set_mode(path, kOwnerMayAll));
  }
  return {};
}

Result<bool> is_being_restored(sys::FileSystem& files, const std::string& folder) {
  const Result<sys::FileInfo> mark = files.stat(sys::join_path(folder, kRestoreMark));
  if (!mark && is_not_found(mark.error())) return false;
  OUTLAST_TRY(mark);
  return true;
}

}  // namespace outlast::checkpoint
