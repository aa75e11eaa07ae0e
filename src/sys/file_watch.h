#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/call_context.h"

// To notice that something changed below a folder without looking again and again.
namespace outlast::sys {

struct FileChanges {
  // More happened than could be kept: look at everything yourself. `paths` is empty.
  bool overflowed = false;
  // Sorted, each once; they begin with the folder as it was given.
  std::vector<std::string> paths = {};
};

// Watches a folder and all folders below it, also those that come later; symlinks are not followed.
// Reports names: of a file that was closed after having been open for writing; of anything that
// appears (made, linked, moved in; of a folder with all that is in it) or goes. So a file that is
// made is reported twice: at once, when it is perhaps not written yet, and when it is closed. What
// is written through a file that stays open, and what another machine does on a shared file system,
// is not noticed. Costs nothing while nothing happens. For one thread at a time.
class FileWatch {
 public:
  virtual ~FileWatch() = default;
  // What happened since the last call, waiting for something. When this fails with another code
  // than kCancelled or kDeadlineExceeded it always will, and the caller has to look from time to
  // time instead: kNotFound if the folder itself has gone, kUnavailable if a new folder could not
  // be watched.
  virtual Result<FileChanges> wait(const CallContext& ctx) = 0;
};

// Thread-safe.
class FileWatches {
 public:
  virtual ~FileWatches() = default;
  // What happens from now on. What is there already is not reported: watch first, then look. A
  // folder for which `leave_out` is true, given its path as it would be reported, is left out with
  // all that is in it; so is one that we may not read. kNotFound if there is no such folder.
  // kUnavailable, with a sentence that says what to do, if the system watches no more: then look
  // from time to time instead.
  virtual Result<std::unique_ptr<FileWatch>> watch(
      const std::string& folder, std::function<bool(const std::string& path)> leave_out) = 0;
};

}  // namespace outlast::sys
