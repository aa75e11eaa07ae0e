// How a TreeTarget ends: what is made of names, then the folders from the deepest up, then the
// mark.
#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/result.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tree_names.h"
#include "checkpoint/tree_plan.h"
#include "checkpoint/tree_target.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {

Result<TreeTarget::Summary> TreeTarget::finish(const sys::CallContext& ctx) {
  {
    const MutexLock lock(mutex_);
    OUTLAST_CHECK(done_count_ == plan_.files.size(), "only {} of {} files are finished",
                  done_count_, plan_.files.size());
  }
  const auto run = [&]() -> Result<void> {
    OUTLAST_TRY(make_hardlinks(ctx));
    OUTLAST_TRY(make_symlinks(ctx));
    // Their permissions may keep us out once they are set: all others first.
    if (!new_) {
      OUTLAST_TRY(look_for_others("", ctx));
      for (const PlannedFolder& folder : plan_.folders) {
        OUTLAST_TRY(look_for_others(folder.path, ctx));
      }
    }
    for (std::size_t i = plan_.folders.size(); i-- > 0;) {
      OUTLAST_TRY(check_not_stopped(ctx, "finish folders"));
      OUTLAST_TRY(finish_folder(plan_.folders[i]));
    }
    OUTLAST_TRY(sync_each() ? files_.sync_dir(root_) : mark_->sync_file_system());
    OUTLAST_TRY(files_.remove_file(mark_path()));
    return files_.sync_dir(root_);
  };
  OUTLAST_TRY(run().while_doing(fmt::format("restore into '{}'", root_)));
  const MutexLock lock(mutex_);
  return summary_;
}

Result<void> TreeTarget::make_hardlinks(const sys::CallContext& ctx) {
  for (const Item* item : plan_.hardlinks) {
    const std::string path = path_of(item->path);
    const std::string target = path_of(item->target);
    OUTLAST_TRY_ASSIGN(const sys::FileInfo wanted, files_.stat(target));
    const Result<sys::FileInfo> info = files_.stat(path);
    if (info && info->device == wanted.device && info->inode == wanted.inode) continue;
    const std::string part = part_path(path);
    OUTLAST_TRY(remove_whatever_is_at(files_, part, ctx));
    OUTLAST_TRY(files_.link(target, part));
    OUTLAST_TRY(put_in_place(part, path, ctx));
  }
  return {};
}

Result<void> TreeTarget::make_symlinks(const sys::CallContext& ctx) {
  for (const Item* item : plan_.symlinks) {
    const std::string path = path_of(item->path);
    const Result<sys::FileInfo> info = files_.stat(path);
    if (info && info->type == sys::FileType::kSymlink) {
      OUTLAST_TRY_ASSIGN(const std::string target, files_.read_symlink(path));
      if (target == item->target) continue;
    }
    const std::string part = part_path(path);
    OUTLAST_TRY(remove_whatever_is_at(files_, part, ctx));
    OUTLAST_TRY(files_.make_symlink(item->target, part));
    OUTLAST_TRY(put_in_place(part, path, ctx));
  }
  return {};
}

Result<void> TreeTarget::put_in_place(const std::string& part, const std::string& path,
                                      const sys::CallContext& ctx) {
  const Result<sys::FileInfo> info = files_.stat(path);
  if (info && info->type == sys::FileType::kDirectory) {
    OUTLAST_TRY(remove_folder_in_the_way(path, ctx));
    const MutexLock lock(mutex_);
    ++summary_.removed;
  }
  return files_.rename(part, path);
}

// What is in this folder of the plan and not in the plan itself.
Result<void> TreeTarget::look_for_others(std::string_view folder, const sys::CallContext& ctx) {
  OUTLAST_TRY(check_not_stopped(ctx, "look for what is not in the checkpoint"));
  const std::string path = folder.empty() ? root_ : path_of(folder);
  OUTLAST_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries, files_.list(path));
  for (const sys::DirectoryEntry& entry : entries) {
    if (folder.empty() && entry.name == kRestoreMark) continue;
    if (plan_.paths.contains(sys::join_path(folder, entry.name))) continue;
    const bool leftover = was_restoring_ && is_our_name(entry.name);
    if (leftover || options_.exact) {
      OUTLAST_TRY(remove_whatever_is_at(files_, sys::join_path(path, entry.name), ctx));
    }
    const MutexLock lock(mutex_);
    if (!leftover) ++(options_.exact ? summary_.removed : summary_.left_alone);
  }
  return {};
}

Result<void> TreeTarget::finish_folder(const PlannedFolder& folder) {
  constexpr std::uint32_t kOwnerMayRead = 0400;
  const std::string path = path_of(folder.path);
  std::optional<std::uint32_t> mode;
  if (folder.item != nullptr) mode = folder.item->mode;
  if (const auto was = opened_up_.find(folder.path); was != opened_up_.end()) mode = was->second;
  // One that we may not read any more cannot be opened to be synced: its permissions then reach the
  // disk with the folder that it is in, on the file systems there are.
  const bool may_read = (mode.value_or(kOwnerMayRead) & kOwnerMayRead) != 0;
  if (mode && may_read) OUTLAST_TRY(files_.set_mode(path, *mode));
  if (folder.item != nullptr) {
    OUTLAST_TRY(files_.set_modified(path, folder.item->modified));
  }
  if (sync_each()) OUTLAST_TRY(files_.sync_dir(path));
  if (mode && !may_read) OUTLAST_TRY(files_.set_mode(path, *mode));
  return {};
}

}  // namespace outlast::checkpoint
