#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/prune.h"
#include "checkpoint/restore.h"
#include "checkpoint/verify.h"
#include "checkpoint/writer.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "store/prefixed_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_system.h"
#include "sys/threads.h"

namespace outlast::checkpoint {

// What goes with a save.
struct SaveRequest {
  std::string why = "asked";
  std::optional<std::uint64_t> step = {};
  std::map<std::string, double> metrics = {};  // finite
  SaveOptions options = {};
};

struct Saved {
  job::Seq seq = 0;
  SaveProgress totals = {};
  std::uint64_t files = 0;
};

struct RestoreRequest {
  std::string folder = {};
  std::optional<job::Seq> seq = {};  // the newest that verifies, unless given
  bool regions_as_files = false;     // they are left out otherwise
  RestoreOptions options = {};
  // What becomes of the regions, which are no files: before anything is done to the folder. If it
  // is kCorrupt, so is the checkpoint.
  std::function<Result<void>(const LoadedCheckpoint&, const sys::CallContext&)> take_regions = {};
  // Told of each checkpoint that is damaged and passed over.
  std::function<void(job::Seq seq, const Error& damage)> passed_over = {};
};

struct Restored {
  job::LogEntry entry = {};
  RestoreSummary summary = {};
};

// The checkpoints of one job in a root. Confined to its owner; what it is given outlives it.
class Checkpoints {
 public:
  struct Parts {
    store::ObjectStore& root;
    sys::FileSystem& files;
    sys::Threads& threads;
    sys::Clock& clock;
    Random& random;
    std::string writer = {};  // machine and process, for the log
  };

  // Reads the end of the log. A job that has none yet is empty, which is no error: see
  // is_empty().
  static Result<std::unique_ptr<Checkpoints>> open(const Parts& parts, const std::string& job,
                                                   const sys::CallContext& ctx);

  bool is_empty() const { return log_.history().empty(); }
  const std::string& job() const { return job_; }
  CommitLog& log() { return log_; }
  store::ObjectStore& store() { return *store_; }
  // For those who read more than files.
  ReaderParts reader_parts();

  // Takes the job over, unless it has done so before, saves the state and commits it. Nothing
  // counts unless this is ok; kPreempted: somebody else has taken over meanwhile.
  Result<Saved> save(const State& state, const SaveRequest& request, const sys::CallContext& ctx);

  // For several ranks: each saves its part, anywhere, and one of them commits all together.
  Result<SavedPart> save_part(const State& state, const SaveOptions& options,
                              const sys::CallContext& ctx);
  Result<Saved> commit(std::vector<SavedPart> parts, const SaveRequest& request,
                       const sys::CallContext& ctx);

  // All that can be restored, oldest first.
  Result<std::vector<job::LogEntry>> list(const sys::CallContext& ctx);
  // One of them: kNotFound, saying which there are, if it cannot be restored.
  Result<job::LogEntry> find(job::Seq seq, const sys::CallContext& ctx);
  Result<LoadedCheckpoint> load(const job::LogEntry& entry, const sys::CallContext& ctx);

  // Into a folder. Without a seq: the newest one; if it turns out to be damaged, the one before it,
  // and so on. kNotFound if there is none, kCorrupt if none verifies.
  Result<Restored> restore(const RestoreRequest& request, const sys::CallContext& ctx);

  Result<PruneSummary> prune(const PruneRequest& request, const sys::CallContext& ctx);
  Result<void> pin(job::Seq seq, bool pinned, const sys::CallContext& ctx);
  Result<VerifyReport> verify(const VerifyRequest& request, const sys::CallContext& ctx);

 private:
  Checkpoints(const Parts& parts, std::string job, std::unique_ptr<store::PrefixedStore> store,
              CommitLog log);

  Result<void> load_base(const sys::CallContext& ctx);
  WriterParts writer_parts();

  const Parts parts_;
  const std::string job_;
  const std::unique_ptr<store::PrefixedStore> store_;
  CommitLog log_;  // uses the store
  LinkRate rate_;
  std::optional<LoadedCheckpoint> base_;  // what a save builds on; none: nothing to build on
};

}  // namespace outlast::checkpoint
