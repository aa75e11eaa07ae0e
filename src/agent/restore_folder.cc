#include "agent/restore_folder.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/work_folder.h"
#include "base/error.h"
#include "base/result.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "trainer_files/layouts.h"
#include "trainer_files/left_out.h"
#include "trainer_files/tree_listing.h"

namespace outlast::agent {
namespace {

using trainer_files::FoundSet;
using trainer_files::Recognise;

bool is_folder_path(const trainer_files::TreeListing& listing, const std::string& path) {
  const trainer_files::ListedEntry* const entry = listing.find(path);
  return entry != nullptr && entry->type == sys::FileType::kDirectory;
}

// What of a set is not in the checkpoint. A folder of which nothing is goes as a whole: an empty
// "checkpoint-20" would still be taken for the newest.
std::vector<std::string> strangers(const FoundSet& set, const std::set<std::string>& restored,
                                   const trainer_files::TreeListing& listing) {
  const bool is_known = std::ranges::any_of(
      set.paths, [&](const std::string& path) { return restored.contains(path); });
  if (set.is_folder() && !set.name.empty() && !is_known) return {set.name};
  std::vector<std::string> paths;
  for (const std::string& path : set.paths) {
    if (!restored.contains(path) && !is_folder_path(listing, path)) paths.push_back(path);
  }
  return paths;
}

std::string folder_of_all(const std::set<std::string>& paths) {
  std::optional<std::string_view> common;
  for (const std::string& path : paths) {
    if (path == WorkFolder::kLifeLog) continue;
    const std::string_view folder = trainer_files::folder_of(path);
    common = common ? trainer_files::common_folder(*common, folder) : folder;
  }
  return std::string(common.value_or(""));
}

}  // namespace

Result<RestoredFolder> restore_folder(checkpoint::Checkpoints& checkpoints, WorkFolder& work,
                                      sys::FileSystem& files, const RestoreFolderRequest& request,
                                      const sys::CallContext& ctx) {
  RestoredFolder result;
  const checkpoint::RestoreRequest restore{.folder = work.path(),
                                           .take_regions = request.take_regions,
                                           .passed_over = request.passed_over};
  Result<checkpoint::Restored> restored = checkpoints.restore(restore, ctx);
  // Only the log can say that there is none. A file of the folder that went meanwhile says nothing.
  const bool has_none = checkpoints.log().history().restorable().empty();
  if (!restored && !has_none) {
    const Error error = restored.error().while_doing("restore the newest checkpoint");
    if (restored.error().code() != ErrorCode::kNotFound) return error;
    return Error(ErrorCode::kUnavailable, error.sentence());
  }
  if (!restored && restored.error().code() != ErrorCode::kNotFound) return restored.error();
  if (restored) {
    OUTLAST_TRY_ASSIGN(const checkpoint::LoadedCheckpoint loaded,
                       checkpoints.load(restored->entry, ctx));
    for (const checkpoint::Item* const item : loaded.all_items()) {
      if (item->kind != checkpoint::ItemKind::kRegion) result.paths.insert(item->path);
    }
    result.entry = std::move(restored->entry);
    result.summary = restored->summary;
    result.folder = sys::join_path(work.path(), folder_of_all(result.paths));
    if (result.folder.ends_with('/')) result.folder.pop_back();
  }

  const std::optional<WorkFolder::Mark> before = work.mark();
  const bool is_ours = before && before->job == request.job;
  WorkFolder::Mark mark{.job = request.job, .epoch = request.epoch};
  if (is_ours) mark.foreign = before->foreign;
  OUTLAST_TRY_ASSIGN(const trainer_files::TreeListing listing,
                     trainer_files::list_tree(files, work.path(), request.listing, ctx));
  std::vector<std::string> aside;
  for (const FoundSet& set : trainer_files::recognise_sets(listing, request.recognise)) {
    // What would never be saved must not be taken away either: data sets, downloaded weights.
    if (request.recognise == Recognise::kLayouts && trainer_files::reason_by_place(set)) continue;
    for (std::string& path : strangers(set, result.paths, listing)) {
      // A folder that is the job's as a whole has all that it needs in its checkpoints; before the
      // first of them, what a person put there is what the job begins with.
      const bool is_whole = request.recognise == Recognise::kEverything && result.entry;
      if (is_whole || (is_ours && !mark.foreign.contains(path))) {
        aside.push_back(std::move(path));
      } else {
        mark.foreign.insert(std::move(path));
      }
    }
  }
  if (!aside.empty())
    OUTLAST_TRY(work.set_aside(aside, request.epoch).while_doing("set old files aside"));
  result.set_aside = aside.size();
  OUTLAST_TRY(work.set_mark(mark).while_doing("mark the folder"));
  return result;
}

}  // namespace outlast::agent
