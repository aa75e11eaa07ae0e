#include "store/directory_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "store/call_checks.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::store {
namespace {

constexpr std::string_view kReserved = ".outlast-";
constexpr std::string_view kDraft = ".outlast-tmp-";
constexpr std::string_view kLocks = ".outlast-locks";
constexpr std::uint32_t kKeyLocks = 64;
constexpr std::size_t kSegmentBytesMax = 255;  // what Linux's file systems take
constexpr std::size_t kWritePiece = 4U << 20U;
constexpr std::size_t kSweptMax = 1000;
constexpr Duration kDraftLife = std::chrono::hours(24);

std::string without_slashes_at_end(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path.empty() ? "." : path;
}

std::string_view advice(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNoSpace:
      return "; free some space on that disk, or choose another folder";
    case ErrorCode::kPermissionDenied:
      return "; give this user the right to read and write in that folder, on a file system that "
             "is "
             "not read-only and has hard links";
    default:
      return "";
  }
}

}  // namespace

bool is_reserved_name(std::string_view name) {
  return name.starts_with(kReserved);
}

Result<void> check_file_key(std::string_view key) {
  OUTLAST_TRY(check_key(key));
  while (!key.empty()) {
    const std::string_view segment = key.substr(0, key.find('/'));
    if (segment.size() > kSegmentBytesMax) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("a part of the object's name between slashes has {} bytes; a file's "
                               "name has at most {}: choose a shorter one",
                               segment.size(), kSegmentBytesMax));
    }
    if (is_reserved_name(segment)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("names that begin with '{}' are kept for outlast's own files: "
                               "choose another",
                               kReserved));
    }
    key.remove_prefix(std::min(key.size(), segment.size() + 1));
  }
  return {};
}

std::string version_of(const sys::FileInfo& info) {
  return fmt::format("{:x}-{:x}-{:x}", info.inode,
                     static_cast<std::uint64_t>(info.modified.time_since_epoch().count()),
                     info.size);
}

ObjectInfo object_of(std::string key, const sys::FileInfo& info) {
  return {.key = std::move(key),
          .size = info.size,
          .version = version_of(info),
          .modified = info.modified};
}

DirectoryFiles::DirectoryFiles(sys::FileSystem& fs, sys::Clock& clock, Random random,
                               const std::string& root)
    : fs_(fs), clock_(clock), root_(without_slashes_at_end(root)), random_(random) {}

std::string DirectoryFiles::path_of(std::string_view key) const {
  return root_.ends_with('/') ? fmt::format("{}{}", root_, key) : fmt::format("{}/{}", root_, key);
}

std::string DirectoryFiles::folder_of(std::string_view key) const {
  const std::size_t slash = key.rfind('/');
  return slash == std::string_view::npos ? root_ : path_of(key.substr(0, slash));
}

Result<void> DirectoryFiles::check_call(std::string_view verb, const std::string& key,
                                        const sys::CallContext& ctx) {
  const std::string what = fmt::format("{} {}", verb, path_of(key));
  OUTLAST_TRY(check_file_key(key).while_doing(what));
  return check_context(clock_, ctx, what);
}

Error DirectoryFiles::explain(std::string_view verb, std::string_view key, const Error& cause) {
  return {cause.code(),
          fmt::format("{} {}: {}{}", verb, path_of(key), cause.to_string(), advice(cause.code()))};
}

Error DirectoryFiles::not_found(std::string_view verb, std::string_view key) {
  const Result<sys::FileInfo> root = fs_.stat(root_);
  if (!root && root.error().code() == ErrorCode::kNotFound) {
    return {ErrorCode::kNotFound, fmt::format("{} {}: there is no folder {}; is it mounted here? "
                                              "The first object that is put makes it",
                                              verb, path_of(key), root_)};
  }
  if (root && root->type == sys::FileType::kFile) {
    return {ErrorCode::kInvalidArgument,
            fmt::format("{} {}: {} is a file, and a store is a folder: name another", verb,
                        path_of(key), root_)};
  }
  return {ErrorCode::kNotFound, fmt::format("{} {}: there is no such object", verb, path_of(key))};
}

std::optional<Error> DirectoryFiles::name_conflict(std::string_view key) {
  const auto is_file = [&](const std::string& path) {
    const Result<sys::FileInfo> info = fs_.stat(path);
    return info && info->type == sys::FileType::kFile;
  };
  if (is_file(root_)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} is a file, and a store is a folder: name another", root_));
  }
  for (std::size_t at = key.find('/'); at != std::string_view::npos; at = key.find('/', at + 1)) {
    const std::string_view above = key.substr(0, at);
    if (!is_file(path_of(above))) continue;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is an object, and in a folder nothing can be below one: choose "
                             "another name, or remove it first",
                             above));
  }
  return std::nullopt;
}

// An open asks an NFS server for what is there now, where a stat may answer from memory. That there
// is nothing may be remembered too, but not beyond an open of the folder.
Result<DirectoryFiles::Opened> DirectoryFiles::open_object(std::string_view key) {
  const std::string path = path_of(key);
  Result<std::unique_ptr<sys::File>> file = fs_.open(path, sys::OpenMode::kRead);
  if (!file && file.error().code() == ErrorCode::kNotFound) {
    (void)fs_.open(folder_of(key), sys::OpenMode::kRead);
    file = fs_.open(path, sys::OpenMode::kRead);
  }
  if (!file) {
    if (file.error().code() == ErrorCode::kNotFound) return Opened();
    const Result<sys::FileInfo> info = fs_.stat(path);
    if (info && info->type == sys::FileType::kDirectory) return Opened();
    return file.error();
  }
  OUTLAST_TRY_ASSIGN(const sys::FileInfo info, (*file)->info());
  if (info.type != sys::FileType::kFile) return Opened();
  return Opened{.file = *std::move(file), .info = info};
}

std::string DirectoryFiles::make_token() {
  const MutexLock lock(mutex_);
  return outlast::make_token(random_, 16);
}

std::string DirectoryFiles::draft_path(std::string_view key, std::string_view token) const {
  return fmt::format("{}/{}{}", folder_of(key), kDraft, token);
}

std::string DirectoryFiles::token_of(const Draft& draft) {
  return std::string(sys::base_name(draft.path).substr(kDraft.size()));
}

Result<std::unique_ptr<sys::FileLock>> DirectoryFiles::lock(std::string_view name,
                                                            const sys::CallContext& ctx) {
  const std::string folder = path_of(kLocks);
  const std::string path = sys::join_path(folder, name);
  Result<std::unique_ptr<sys::FileLock>> held = fs_.lock(path, ctx);
  if (held || held.error().code() != ErrorCode::kNotFound) return held;
  OUTLAST_TRY(sys::make_dirs(fs_, folder));
  return fs_.lock(path, ctx);
}

// One of a few files, so that they do not become as many as there were ever keys.
Result<std::unique_ptr<sys::FileLock>> DirectoryFiles::lock_key(std::string_view key,
                                                                const sys::CallContext& ctx) {
  return lock(fmt::format("{:02}", crc32c(as_bytes(key)) % kKeyLocks), ctx);
}

Result<Draft> DirectoryFiles::open_draft(const std::string& folder) {
  Draft draft{.path = fmt::format("{}/{}{}", folder, kDraft, make_token())};
  OUTLAST_TRY_ASSIGN(draft.file, fs_.open(draft.path, sys::OpenMode::kCreateExclusive));
  OUTLAST_TRY_ASSIGN(draft.info, draft.file->info());
  return draft;
}

// Folders are made and removed under one lock, so that make_dirs() may rely on what it has synced:
// whatever has a folder in it is durable. Objects come and go without it: one of them may take the
// name of a folder that is wanted here, and be gone again when we look.
Result<Draft> DirectoryFiles::make_draft_and_folders(std::string_view key,
                                                     const std::string& folder,
                                                     const sys::CallContext& ctx) {
  if (std::optional<Error> conflict = name_conflict(key)) return *std::move(conflict);
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::FileLock> held, lock("folders", ctx));
  const Result<void> made = sys::make_dirs(fs_, folder);
  Result<Draft> draft = made ? open_draft(folder) : Result<Draft>(made.error());
  if (draft) return draft;
  if (std::optional<Error> conflict = name_conflict(key)) return *std::move(conflict);
  if (draft.error().code() != ErrorCode::kNotFound) return draft;
  return Error(ErrorCode::kUnavailable,
               fmt::format("an object had the name of a folder of this one for a moment ({}); try "
                           "again",
                           draft.error().to_string()));
}

Result<Draft> DirectoryFiles::make_draft(std::string_view key, const sys::CallContext& ctx) {
  const std::string folder = folder_of(key);
  Result<Draft> draft = open_draft(folder);
  if (!draft && draft.error().code() == ErrorCode::kNotFound) {
    draft = make_draft_and_folders(key, folder, ctx);
  } else if (draft) {
    // Whoever made this folder may not have come to syncing its name yet. It cannot be removed and
    // made again now, because the draft is in it. A parent that we may not open is not of our
    // making.
    const Result<void> synced = fs_.sync_dir(sys::parent_path(folder));
    if (!synced && synced.error().code() != ErrorCode::kPermissionDenied) {
      discard(*draft);
      return synced.error();
    }
  }
  if (draft) sweep(folder, draft->info.modified);
  return draft;
}

void DirectoryFiles::sweep(const std::string& folder, WallTime now) {
  {
    const MutexLock lock(mutex_);
    if (swept_.size() >= kSweptMax) swept_.clear();
    if (!swept_.insert(folder).second) return;
  }
  const Result<std::vector<sys::DirectoryEntry>> entries = fs_.list(folder);
  if (!entries) return;
  for (const sys::DirectoryEntry& entry : *entries) {
    if (!entry.name.starts_with(kDraft)) continue;
    const std::string path = sys::join_path(folder, entry.name);
    const Result<sys::FileInfo> info = fs_.stat(path);
    if (info && info->modified < now - kDraftLife) (void)fs_.remove_file(path);
  }
}

Result<void> DirectoryFiles::write(sys::File& file, BytesView bytes, std::uint64_t offset,
                                   const sys::CallContext& ctx) {
  while (!bytes.empty()) {
    const BytesView piece = bytes.first(std::min(bytes.size(), kWritePiece));
    OUTLAST_TRY(file.write_at(piece, offset));
    offset += piece.size();
    bytes = bytes.subspan(piece.size());
    if (!bytes.empty()) OUTLAST_TRY(check_context(clock_, ctx, "write the rest"));
  }
  return {};
}

void DirectoryFiles::discard(const Draft& draft) {
  (void)fs_.remove_file(draft.path);  // or the sweep does, in a day
}

Result<WallTime> DirectoryFiles::server_time(const sys::CallContext& ctx) {
  OUTLAST_TRY(check_context(clock_, ctx, fmt::format("ask {} for the time", path_of(""))));
  const Result<Draft> draft = open_draft(root_);
  if (!draft && draft.error().code() == ErrorCode::kNotFound) {
    return not_found("ask for the time of", "");
  }
  if (!draft) return explain("ask for the time of", "", draft.error());
  discard(*draft);
  return draft->info.modified;
}

}  // namespace outlast::store
