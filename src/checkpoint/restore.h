#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "checkpoint/loaded_checkpoint.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

namespace outlast::checkpoint {

struct RestoreProgress {
  std::uint64_t bytes = 0;       // of the state
  std::uint64_t bytes_done = 0;  // of these: there and right
};

struct RestoreOptions {
  bool exact = false;  // remove what is in the folder and not in the checkpoint
  unsigned workers = 6;
  std::function<void(const RestoreProgress&)> watch = {};  // about ten times a second
};

struct RestoreSummary {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;          // of the state
  std::uint64_t bytes_fetched = 0;  // the rest was there already
  std::uint64_t files_changed = 0;
  std::uint64_t left_alone = 0;  // things in the folder that are not in the checkpoint
  std::uint64_t removed = 0;     // the same, with `exact`
};

// Makes `folder` what was saved. It may have contents: only what differs is written, and nothing
// outside of it. A restore that does not end leaves a mark by which the next one, and everybody who
// asks, knows it. Regions, which never were files, are left out. kCorrupt if the checkpoint is
// damaged; anything else if it is the folder's fault.
Result<RestoreSummary> restore_to_folder(const ReaderParts& parts, sys::FileSystem& files,
                                         const LoadedCheckpoint& checkpoint,
                                         const std::string& folder, const RestoreOptions& options,
                                         const sys::CallContext& ctx);

}  // namespace outlast::checkpoint
