#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "agent/work_folder.h"
#include "base/error.h"
#include "base/result.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/restore.h"
#include "job/log_entry.h"
#include "sys/call_context.h"
#include "sys/file_system.h"
#include "trainer_files/layouts.h"
#include "trainer_files/tree_listing.h"

namespace outlast::agent {

// What a trainer finds when it starts.
struct RestoredFolder {
  std::optional<job::LogEntry> entry = {};  // none: the job has no checkpoint yet
  std::set<std::string> paths = {};         // that were put back
  // The deepest folder, absolute, that all of them are in; "" if there are none.
  std::string folder = {};
  checkpoint::RestoreSummary summary = {};
  std::size_t set_aside = 0;  // files and folders
  // In the arenas: what the checkpoint put there, and the step that the trainer finds in them.
  std::uint64_t snapshot_bytes = 0;
  std::optional<std::uint64_t> snapshot_step = {};
  // Nothing was restored: the trainer goes on from what it left in memory.
  bool is_from_memory = false;
};

struct RestoreFolderRequest {
  std::string job = {};
  job::Epoch epoch = 0;
  // kEverything: the whole folder is the job's, whoever put there what is in it.
  trainer_files::Recognise recognise = trainer_files::Recognise::kLayouts;
  trainer_files::ListingOptions listing = {};
  std::function<void(job::Seq seq, const Error& damage)> passed_over = {};
  // What becomes of a checkpoint's regions: checkpoint::RestoreRequest.
  std::function<Result<void>(const checkpoint::LoadedCheckpoint&, const sys::CallContext&)>
      take_regions = {};
};

// Makes the folder what the newest checkpoint says, so that a trainer that starts in it goes on
// from there and from nothing else: what an earlier life of the job left behind, torn or merely not
// committed, is set aside. What a person put there stays. Then the folder bears the job's mark.
Result<RestoredFolder> restore_folder(checkpoint::Checkpoints& checkpoints, WorkFolder& work,
                                      sys::FileSystem& files, const RestoreFolderRequest& request,
                                      const sys::CallContext& ctx);

}  // namespace outlast::agent
