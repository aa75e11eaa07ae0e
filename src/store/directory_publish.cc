// How a draft becomes an object, and an object goes, so that everybody sees either all of it or
// nothing, and conditions are judged and met in one step.
//
// A file that has an object's name is never written to again: an object changes by the name leading
// to another file. There are three ways to change a name:
//   L  link() gives the name to a draft, and fails if anything has it: put-if-absent, no lock held.
//   R  rename() gives the name to a draft, whatever has it: the other puts, under the key's lock.
//   U  unlink() takes the name away: the removals, under the key's lock.
// Each is atomic by itself, also over NFS. What is judged before it still holds when it takes
// place:
//  - L judges by itself. Of several at once one gets the name.
//  - R and U that depend on a version have looked at the file that has the name. Another R or U is
//    kept out by the lock. An L fails as long as the name is taken, which it is until we change it.
//    So nothing can come between the look and the change.
//  - R and U without a condition need no look. An L that comes just before such an R was
//  overwritten
//    by it, one that comes just before such a U was removed by it; one that comes just after the U
//    made the object anew.
// The lock belongs to an open file: it ends with the process, and with the machine that had it (an
// NFS server waits for its lease). A holder that stands still for longer than the lease and then
// goes on is the one thing that this cannot see.
//
// The version: R gives the draft a later time than the file that it replaces, under the lock, so
// times grow along a row of R's. Whatever an L comes between had been removed, or never was: for
// those stamp() draws the last digits.
//
// Durability: a draft is synced, with its time, before it gets the name; the folder is synced
// before the call returns. Until then others can see what a loss of power may take back, but nobody
// was told. Whoever is told that he lost the race for a name (L) is told so only once the winner's
// name is durable; whoever is told that there is nothing left to remove, once that is.

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "store/directory_files.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::store {
namespace {

constexpr Duration kDrawnDigits =
    std::chrono::milliseconds(4);                            // about a tick of the kernel's clock
constexpr Duration kCoarsestTick = std::chrono::seconds(2);  // of any file system's clock
constexpr int kTries = 10;

// Errors with which the kernel or the server says that the call had no effect.
bool surely_not_done(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kNoSpace:
      return true;
    default:
      return false;
  }
}

Error in_doubt(const Error& cause) {
  return {ErrorCode::kUnknownOutcome,
          fmt::format("{}; it may have happened: look before repeating it", cause.to_string())};
}

Error not_published(const Error& cause) {
  if (cause.code() == ErrorCode::kNotFound) {
    return {ErrorCode::kUnavailable,
            fmt::format("somebody removed the file that was being written, or its folder ({}); try "
                        "again",
                        cause.to_string())};
  }
  return surely_not_done(cause.code()) ? cause : in_doubt(cause);
}

Error is_folder() {
  return {ErrorCode::kInvalidArgument,
          "a folder with objects has this name, and an object cannot have it too: choose another "
          "name, or remove what is in the folder first"};
}

// Removes the folder if nothing but empty folders is in it; whether it did.
Result<bool> remove_if_empty(sys::FileSystem& fs, const std::string& path) {
  const Result<std::vector<sys::DirectoryEntry>> entries = fs.list(path);
  if (!entries) {
    if (entries.error().code() == ErrorCode::kNotFound) return true;
    return entries.error();
  }
  for (const sys::DirectoryEntry& entry : *entries) {
    if (entry.type != sys::FileType::kDirectory) return false;
    OUTLAST_TRY_ASSIGN(const bool removed, remove_if_empty(fs, sys::join_path(path, entry.name)));
    if (!removed) return false;
  }
  const Result<void> removed = fs.remove_dir(path);
  if (removed || removed.error().code() == ErrorCode::kNotFound) return true;
  if (removed.error().code() == ErrorCode::kAlreadyExists) return false;  // a draft came
  return removed.error();
}

}  // namespace

Result<void> DirectoryFiles::stamp(Draft& draft, WallTime base) {
  {
    const MutexLock lock(mutex_);
    base += Duration(random_.below(static_cast<std::uint64_t>(kDrawnDigits.count())));
  }
  OUTLAST_TRY(draft.file->set_modified(base));
  OUTLAST_TRY(draft.file->sync());
  OUTLAST_TRY_ASSIGN(draft.info, draft.file->info());
  return {};
}

Result<void> DirectoryFiles::make_later(Draft& draft, WallTime than) {
  for (const Duration later : {Duration(1), kCoarsestTick}) {
    if (draft.info.modified > than) return {};
    OUTLAST_TRY(draft.file->set_modified(than + later));
    OUTLAST_TRY(draft.file->sync());
    OUTLAST_TRY_ASSIGN(draft.info, draft.file->info());
  }
  if (draft.info.modified > than) return {};
  return Error(ErrorCode::kFailed,
               "this file system does not keep the times of files, by which versions are told "
               "apart: choose another folder");
}

Result<bool> DirectoryFiles::blocked_by_folder(const std::string& path,
                                               const sys::CallContext& ctx) {
  const Result<sys::FileInfo> info = fs_.stat(path);
  if (!info || info->type != sys::FileType::kDirectory) return false;
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::FileLock> held, lock("folders", ctx));
  OUTLAST_TRY_ASSIGN(const bool removed, remove_if_empty(fs_, path));
  return !removed;
}

// An answer can be lost on the way from a file server and the call repeated, which then fails
// because it was done: the file itself tells.
bool DirectoryFiles::is_object(const Draft& draft, std::string_view key) {
  const Result<Opened> now = open_object(key);
  return now && now->file && now->info.inode == draft.info.inode;
}

Result<void> DirectoryFiles::sync_names(const std::string& key) {
  const Result<void> synced = fs_.sync_dir(folder_of(key));
  if (!synced) return in_doubt(synced.error());
  return {};
}

Result<std::string> DirectoryFiles::publish(Draft& draft, const std::string& key,
                                            const WriteIf& condition, const sys::CallContext& ctx) {
  return condition.kind == WriteIf::Kind::kAbsent ? publish_new(draft, key, ctx)
                                                  : publish_over(draft, key, condition, ctx);
}

Result<std::string> DirectoryFiles::publish_new(const Draft& draft, const std::string& key,
                                                const sys::CallContext& ctx) {
  const std::string path = path_of(key);
  for (int tries = 0;; ++tries) {
    const Result<void> linked = fs_.link(draft.path, path);
    if (linked || is_object(draft, key)) break;
    if (linked.error().code() != ErrorCode::kAlreadyExists) return not_published(linked.error());
    const Result<sys::FileInfo> found = fs_.stat(path);
    if (!found || found->type != sys::FileType::kDirectory) {
      OUTLAST_TRY(fs_.sync_dir(folder_of(key)));
      return Error(ErrorCode::kAlreadyExists, "the object exists already");
    }
    OUTLAST_TRY_ASSIGN(const bool blocked, blocked_by_folder(path, ctx));
    if (blocked || tries == kTries) return is_folder();
  }
  OUTLAST_TRY(sync_names(key));
  discard(draft);
  return version_of(draft.info);
}

Result<std::string> DirectoryFiles::publish_over(Draft& draft, const std::string& key,
                                                 const WriteIf& condition,
                                                 const sys::CallContext& ctx) {
  const std::string path = path_of(key);
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::FileLock> held, lock_key(key, ctx));
  for (int tries = 0;; ++tries) {
    OUTLAST_TRY_ASSIGN(const Opened old, open_object(key));
    if (condition.kind == WriteIf::Kind::kVersion &&
        (!old.file || version_of(old.info) != condition.version)) {
      return Error(ErrorCode::kConditionFailed,
                   "the object is gone or has another version: read it again, then decide");
    }
    if (old.file) OUTLAST_TRY(make_later(draft, old.info.modified));
    const Result<void> renamed = fs_.rename(draft.path, path);
    if (renamed || is_object(draft, key)) break;
    OUTLAST_TRY_ASSIGN(const bool blocked, blocked_by_folder(path, ctx));
    if (blocked) return is_folder();
    const ErrorCode code = renamed.error().code();
    const bool was_blocked =
        code == ErrorCode::kInvalidArgument || code == ErrorCode::kAlreadyExists;
    if (!was_blocked || tries == kTries) return not_published(renamed.error());
  }
  OUTLAST_TRY(sync_names(key));
  return version_of(draft.info);
}

Result<void> DirectoryFiles::remove(const std::string& key, const std::string* version,
                                    const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(Opened found, open_object(key));
  std::unique_ptr<sys::FileLock> held;
  if (found.file) {
    OUTLAST_TRY_ASSIGN(held, lock_key(key, ctx));
    OUTLAST_TRY_ASSIGN(found, open_object(key));
  }
  if (!found.file) {
    const Result<void> synced = fs_.sync_dir(folder_of(key));
    if (!synced && synced.error().code() != ErrorCode::kNotFound) return synced.error();
    return {};
  }
  if (version != nullptr && version_of(found.info) != *version) {
    return Error(ErrorCode::kConditionFailed,
                 "the object has another version by now: read it again, then decide");
  }
  const Result<void> removed = fs_.remove_file(path_of(key));
  if (!removed && removed.error().code() != ErrorCode::kNotFound) {
    return surely_not_done(removed.error().code()) ? removed.error() : in_doubt(removed.error());
  }
  return sync_names(key);
}

}  // namespace outlast::store
