#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "job/log_entry.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"

namespace outlast::agent {

// Our own corner in the folder whose checkpoints we look after: a subfolder that is never saved and
// never taken for a checkpoint. Locked as long as this lives, so that two agents do not work in one
// folder. Confined to its owner.
class WorkFolder {
 public:
  // The corner's name.
  static constexpr std::string_view kName = ".outlast-run";
  // Beside the checkpoints, and saved with them: when each life began, and from where.
  static constexpr std::string_view kLifeLog = "outlast.log";

  // `folder` is absolute and is made if it is absent. kAlreadyExists, with a sentence, if another
  // agent works in it.
  static Result<WorkFolder> open(sys::FileSystem& files, sys::Clock& clock,
                                 const std::string& folder, const sys::CallContext& ctx);

  const std::string& path() const { return folder_; }
  std::string notice_file() const;  // OUTLAST_NOTICE
  std::string output_dir() const;   // OUTLAST_OUTPUT_DIR; there
  std::string socket() const;       // OUTLAST_SOCKET

  // That what lies in the folder is of this job.
  struct Mark {
    std::string job = {};
    job::Epoch epoch = 0;
    // What was there before the job's first life here, and is nobody's checkpoint.
    std::set<std::string> foreign = {};
  };
  // None if there is none, or one that cannot be read.
  std::optional<Mark> mark() const;
  Result<void> set_mark(const Mark& mark);

  // Moves these (paths below the folder; what is gone is no error) out of the trainer's sight, to a
  // place for this attempt. Only the last attempt's before it is kept beside it, for a person who
  // misses something.
  Result<void> set_aside(const std::vector<std::string>& paths, job::Epoch epoch);
  std::string aside_folder() const;

  // Adds a line to the life log. Its end is added.
  Result<void> log_life(std::string_view line);

 private:
  WorkFolder(sys::FileSystem& files, std::string folder)
      : files_(&files), folder_(std::move(folder)) {}
  std::string corner(std::string_view name) const;

  sys::FileSystem* files_;
  std::string folder_;
  std::unique_ptr<sys::FileLock> lock_ = {};
};

}  // namespace outlast::agent
