#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "job/log_entry.h"

namespace outlast::job {

// What a job's commit log says, as far as it has been read: a piece without a gap that reaches to
// the end as it was then. The rules of the log are here and nowhere else:
//
// - an entry counts if its epoch is at least that of every entry before it;
// - a checkpoint can be restored if it counts and no later prune that counts has left it out;
// - the job has ended if the last of its fences and endings that count is an ending.
//
// A damaged entry has its place, counts for nothing and is reported. Confined to its owner.
class History {
 public:
  // The entry of the next place, newer than all so far. With `damage`: it could not be read.
  void add_newest(const LogEntry& entry);
  void add_newest_damaged(Seq seq, const Error& damage);
  // The entry just before the oldest so far.
  void add_older(const LogEntry& entry);
  void add_older_damaged(Seq seq, const Error& damage);

  bool empty() const;
  // Of what was read; next() is the first place that was free then.
  Seq oldest() const;
  Seq next() const;
  // Whether nothing before oldest() matters to what is said below: it is 1, or a prune that counts.
  bool is_complete() const;

  // The highest epoch so far; 0 in an empty log. Right however far back was read.
  Epoch highest() const;
  bool counts(Seq seq) const;
  const LogEntry* find(Seq seq) const;  // nullptr if it was not read, or is damaged
  // Those that can be restored, oldest first, among what was read. A prune may name older ones that
  // were not read yet: see unread_kept().
  std::vector<Seq> restorable() const;
  std::vector<Seq> unread_kept() const;
  std::set<Seq> pinned() const;
  // kDone, kFailed or kCancelled if the job has ended so; nullptr otherwise.
  const LogEntry* ending() const;
  // By place.
  const std::map<Seq, Error>& damaged() const;

  // A checkpoint that was read although a prune lies between it and oldest(). For unread_kept().
  void add_kept(const LogEntry& entry);

 private:
  std::map<Seq, LogEntry> entries_;
  std::map<Seq, LogEntry> kept_;  // before oldest()
  std::map<Seq, Error> damaged_;
  Seq oldest_ = 0;
  Seq next_ = 1;
};

}  // namespace outlast::job
