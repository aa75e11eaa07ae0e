#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "checkpoint/place_reading.h"
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
//
// An entry that is missing or cannot be read is damage: History::damaged(). One of a newer format
// makes every call that meets it kInvalidArgument.
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
  // a checkpoint that can be restored is found, or there is none; and the job's ending, if it has
  // come to one.
  static Result<CommitLog> open(const Parts& parts, const sys::CallContext& ctx);

  const job::History& history() const { return history_; }

  // Reads what was added since.
  Result<void> refresh(const sys::CallContext& ctx);
  // Reads further back, by batches in parallel, until there is one more checkpoint that can be
  // restored than before. False if there is none. kCorrupt if nothing of the log is there for so
  // long that it is not this job's any more.
  Result<bool> read_older(const sys::CallContext& ctx);
  // All that matters: until the history is complete, and what the last prune kept before it.
  Result<void> read_all(const sys::CallContext& ctx);

  // Writes a fence with a higher epoch than all before in the next free place, and has its epoch
  // from then on. After an error it may have been written or not, and epoch() is what it was.
  Result<job::Epoch> take_over(const std::string& why, const sys::CallContext& ctx) {
    return take_over(why, nullptr, ctx);
  }
  // Shown each entry that was put before ours since the last call, by whomever: it may make ours
  // wrong. An error of it ends the call: nothing was added.
  using Objection = std::function<Result<void>(const job::LogEntry& theirs)>;
  Result<job::Epoch> take_over(const std::string& why, const Objection& objection,
                               const sys::CallContext& ctx);
  // 0 before take_over().
  job::Epoch epoch() const { return epoch_; }

  // Adds an entry in the next free place and says which that was: seq, epoch, floor, ended, nonce,
  // time and writer are filled in. An attempt that has taken over writes with its epoch; kPreempted
  // if somebody else has taken over since: nothing was added, and nothing of this attempt can be
  // any more. Whoever has not taken over (upkeep) writes with the highest epoch there is, and a log
  // without any entry is then kNotFound. kCorrupt, and nothing was added, if the newest entry is
  // damaged, which may be somebody's fence: only take_over() goes past it. kInvalidArgument as
  // job::check_entry(). An error of `objection`, which may be empty, ends it: nothing was added.
  // After any other error it may have been added or not; refresh() tells, some day.
  Result<job::Seq> append(job::LogEntry draft, const Objection& objection,
                          const sys::CallContext& ctx);

 private:
  explicit CommitLog(const Parts& parts) : parts_(parts) {}

  // Of the newest entry, 0 if there is none.
  Result<job::Seq> find_newest(const sys::CallContext& ctx);
  // The next batch of read_older() or read_all(). False if there is nothing more to read.
  Result<bool> read_batch(std::size_t count, const sys::CallContext& ctx);
  Result<void> read_back(std::size_t count, const sys::CallContext& ctx);
  Result<void> read_apart(const std::vector<job::Seq>& seqs, const sys::CallContext& ctx);
  void take_in(const PlaceReading& newest);

  // Puts it in its place, however often that takes, and returns what lies there then.
  Result<PlaceReading> claim(const job::LogEntry& entry, const sys::CallContext& ctx);
  // The epoch to write with, if we may.
  Result<job::Epoch> epoch_to_append() const;
  using EpochRule = std::function<Result<job::Epoch>()>;
  Result<job::LogEntry> write(job::LogEntry draft, const EpochRule& epoch,
                              const Objection& objection, const sys::CallContext& ctx);

  Parts parts_;
  job::History history_;
  std::size_t missing_run_ = 0;  // places just before oldest() in which nothing was
  job::Epoch epoch_ = 0;
  std::optional<job::LogEntry> successor_;  // by which we learnt that our turn is over
};

}  // namespace outlast::checkpoint
