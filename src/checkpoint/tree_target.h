#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/mutex.h"
#include "base/result.h"
#include "checkpoint/manifest.h"
#include "checkpoint/open_parts.h"
#include "checkpoint/tree_plan.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {

// A chunk that is not in the folder yet; never one of zeros.
struct MissingChunk {
  std::uint32_t manifest = 0;
  std::uint32_t chunk = 0;   // in Manifest::chunks
  std::uint64_t offset = 0;  // in the file
};

// Makes a folder what a checkpoint says. It may have contents: files that are right are left alone,
// of the others only what differs has to be fetched, and a file that is in the way is replaced; a
// folder that is, and is not empty, only if `exact` says so. Nothing is written outside of the
// folder: symlinks in it are replaced, never followed, and a file that has another name elsewhere
// gets a content of its own. From begin() to the end of finish() a mark in the folder says that it
// is not to be believed; it outlives a crash, and such a folder can always
// be restored into again. The caller:
//
//   begin(); for each file, on any thread: prepare(), write() what is missing, finish_file();
//   finish()
//
// Errors name the path. After one the restore has failed; the mark stays. Thread-safe, but
// prepare() and finish_file() of one file are called once, and finish() after all of them.
class TreeTarget {
 public:
  struct Options {
    bool exact = false;  // remove what is in the folder and not in the checkpoint, or in its way
    // With more files and folders than this, the whole file system is synced instead of each.
    std::size_t sync_each_max = 100;
  };
  // Checks everything that can be before the folder is touched: the manifests, which must outlive
  // this (see plan_tree()), that `folder` is one or absent and no folder in it is in the way
  // (kInvalidArgument), that the disk has room (kNoSpace; not in a folder whose restore was cut
  // off, where nobody can tell). Then makes the mark, durably, and the
  // folders.
  static Result<std::unique_ptr<TreeTarget>> begin(sys::FileSystem& files,
                                                   std::span<const Manifest> manifests,
                                                   const std::string& folder,
                                                   const Options& options,
                                                   const sys::CallContext& ctx);

  std::size_t file_count() const { return plan_.files.size(); }
  const Item& file(std::size_t index) const { return *plan_.files[index].item; }

  // Reads what is there and says what is not. If nothing is missing, the file is finished.
  Result<std::vector<MissingChunk>> prepare(std::size_t index, const sys::CallContext& ctx);
  // Chunks of one file may be written in parallel.
  Result<void> write(std::size_t index, std::uint64_t offset, BytesView bytes);
  // When all that was missing was written: gives the file its name.
  Result<void> finish_file(std::size_t index);

  struct Summary {
    std::uint64_t files_written = 0;
    std::uint64_t files_kept = 0;     // were right, perhaps apart from their permissions and time
    std::uint64_t bytes_written = 0;  // that were missing
    std::uint64_t bytes_reused = 0;   // that were in the folder already
    std::uint64_t left_alone = 0;     // things that are not in the checkpoint; a folder counts once
    std::uint64_t removed = 0;        // the same with `exact`, and folders that were in the way
  };
  // Links, then permissions and times of the folders; when all is on the disk the mark goes.
  Result<Summary> finish(const sys::CallContext& ctx);

 private:
  struct Existing;  // what a file of the checkpoint finds in its place

  TreeTarget(sys::FileSystem& files, std::span<const Manifest> manifests, TreePlan plan,
             std::string root, const Options& options);

  std::string path_of(std::string_view item) const;
  std::string mark_path() const;
  bool sync_each() const;

  // tree_begin.cc
  Result<void> look_at_root(const sys::CallContext& ctx);
  Result<void> look_at_the_way(const sys::CallContext& ctx);
  Result<void> remove_folder_in_the_way(const std::string& path, const sys::CallContext& ctx);
  Result<std::uint64_t> bytes_to_come(const sys::CallContext& ctx);
  Result<void> check_space(const sys::CallContext& ctx);
  Result<void> make_mark(const sys::CallContext& ctx);
  Result<void> make_folders(const sys::CallContext& ctx);

  // tree_target.cc
  Result<Existing> look_at(const PlannedFile& file, const std::string& path,
                           const sys::CallContext& ctx);
  Result<bool> is_only_ours(const PlannedFile& file, const sys::FileInfo& info);
  Result<void> keep(std::size_t index, const std::string& path, const Existing& existing);
  Result<std::shared_ptr<sys::File>> open_left_part(const PlannedFile& planned,
                                                    const std::string& part,
                                                    const sys::CallContext& ctx);
  Result<std::vector<MissingChunk>> begin_part(std::size_t index, const std::string& path,
                                               const Existing& existing,
                                               const sys::CallContext& ctx);
  void note_done(std::size_t index, bool written);

  // tree_finish.cc
  Result<void> make_hardlinks(const sys::CallContext& ctx);
  Result<void> make_symlinks(const sys::CallContext& ctx);
  Result<void> put_in_place(const std::string& part, const std::string& path,
                            const sys::CallContext& ctx);
  Result<void> look_for_others(std::string_view folder, const sys::CallContext& ctx);
  Result<void> finish_folder(const PlannedFolder& folder);

  sys::FileSystem& files_;
  const std::span<const Manifest> manifests_;
  const TreePlan plan_;
  const std::string root_;
  const Options options_;
  bool new_ = false;                     // the folder: nothing was there
  bool was_restoring_ = false;           // a restore before this one has not ended
  std::unique_ptr<sys::FileLock> lock_;  // of the mark, if it can be had
  std::unique_ptr<sys::File> mark_;
  // Folders that are in the plan only because of what is in them and were made writable, and what
  // they were before.
  std::map<std::string_view, std::uint32_t> opened_up_;
  OpenParts parts_;
  Mutex mutex_;
  Summary summary_ OUTLAST_GUARDED_BY(mutex_);
  std::vector<bool> done_ OUTLAST_GUARDED_BY(mutex_);  // by file
  std::size_t done_count_ OUTLAST_GUARDED_BY(mutex_) = 0;
};

// Whether a restore into this folder has begun and not ended.
Result<bool> is_being_restored(sys::FileSystem& files, const std::string& folder);

}  // namespace outlast::checkpoint
