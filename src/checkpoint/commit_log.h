#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::checkpoint {

// The commit log of one job, in a store whose keys lie in the job's folder. Entries are made with
// put-if-absent, each in the place after the last, so that all machines see one history. When the
// answer to a write is lost, the entry is read back and known by its nonce. Confined to its owner.
class CommitLog {
 public:
  struct Parts {
    store::ObjectStore& store;
    sys::Threads& threads;
    sys::Clock& clock;
    Random& random;
    std::string writer = {};  // for the entries: machine and process
  };

  // Finds the end of the log, in one listing however long the log is, and reads back from it until
  // a checkpoint that can be restored is found, or the history is complete.
  static Result<CommitLog> open(const Parts& parts, const sys::CallContext& ctx);

  const job::History& history() const { return history_; }

  // Reads what was added since.
  Result<void> refresh(const sys::CallContext& ctx);
  // Reads further back, by a batch in parallel, until there is one more checkpoint that can be
  // restored than before, or the history is complete. False if it was.
  Result<bool> read_older(const sys::CallContext& ctx);
  // All that matters: until the history is complete, and what the last prune kept before it.
  Result<void> read_all(const sys::CallContext& ctx);

  // Writes a fence with a higher epoch than all before in the next free place, and has its epoch
  // from then on.
  Result<job::Epoch> take_over(const std::string& why, const sys::CallContext& ctx);
  // 0 before take_over().
  job::Epoch epoch() const { return epoch_; }

  // Shown each entry that somebody else has put before ours, which may make ours wrong.
  using Objection = std::function<Result<void>(const job::LogEntry& theirs)>;

  // Adds an entry in the next free place and says which that was: seq, epoch, floor, nonce, time
  // and writer are filled in. An attempt that has taken over writes with its epoch; kPreempted if
  // somebody else has taken over since: nothing was added, and nothing of this attempt can be any
  // more. Whoever has not taken over (upkeep) writes with the highest epoch there is, and a log
  // without any entry is then kNotFound. An error of `objection` ends it: nothing was added. After
  // any other error it may have been added or not; refresh() tells, some day.
  Result<job::Seq> append(job::LogEntry draft, const Objection& objection,
                          const sys::CallContext& ctx);

 private:
  explicit CommitLog(const Parts& parts) : parts_(parts) {}

  Parts parts_;
  job::History history_;
  job::Epoch epoch_ = 0;
};

}  // namespace outlast::checkpoint
