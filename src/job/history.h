#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "job/log_entry.h"

namespace outlast::job {

// What entries say together; they are added oldest first. A part of History.
struct HistorySum {
  void add(const LogEntry& entry, Seq oldest_read);
  void prune(const PruneFacts& facts, Seq oldest_read);

  Epoch highest = 0;
  bool begun = false;
  std::set<Seq> uncounted = {};
  std::set<Seq> restorable = {};  // of those read
  bool pruned = false;
  std::set<Seq> kept_before = {};  // by prunes, before what was read
  std::set<Seq> pinned = {};
  Seq ended = 0;
};

// What a job's commit log says, as far as it has been read: a piece without a gap that reaches to
// the end as it was then. The rules of the log are here and nowhere else:
//
// - an entry counts if its epoch is at least that of every entry before it;
// - a checkpoint can be restored if it counts and no later prune that counts has left it out;
// - what is pinned is what the last prune that counts says, and the pins that count since;
// - the job has ended if the last of its fences and endings that count is an ending.
//
// A damaged entry has its place, counts for nothing and is reported. Confined to its owner.
class History {
 public:
  // The entry of the next place, newer than all so far; the first may have any place. `damage` is
  // why it could not be read.
  void add_newest(const LogEntry& entry);
  void add_newest_damaged(Seq seq, const Error& damage);
  // The entry just before the oldest so far.
  void add_older(const LogEntry& entry);
  void add_older_damaged(Seq seq, const Error& damage);
  // One before oldest() that was read by itself: of unread_kept(), or ended().
  void add_apart(const LogEntry& entry);
  void add_apart_damaged(Seq seq, const Error& damage);

  bool empty() const { return oldest_ == next_; }
  // Of what was read; next() is the first place that was free then.
  Seq oldest() const { return oldest_; }
  Seq next() const { return next_; }
  // Whether nothing before oldest() matters to what is said below, but for unread_kept(): it is 1,
  // or a prune that counts has been read.
  bool is_complete() const;

  // The highest epoch so far; 0 in an empty log. Right however far back was read, once one entry
  // could be.
  Epoch highest() const;
  // Above every epoch that anybody can have written so far, damaged entries included.
  Epoch next_epoch() const;
  // Whether the newest entry is damaged: it may be a fence, or anything.
  bool ends_damaged() const;
  bool counts(Seq seq) const;
  const LogEntry* find(Seq seq) const;  // nullptr if it was not read, or is damaged
  // Those that can be restored, oldest first, among what was read. A prune may name older ones that
  // were not read yet: unread_kept(), oldest first.
  std::vector<Seq> restorable() const;
  std::vector<Seq> unread_kept() const;
  // Only once is_complete().
  std::set<Seq> pinned() const;
  // The place of the ending (kDone, kFailed or kCancelled) that the job has come to, 0 if to none.
  // Right however far back was read, once one entry could be.
  Seq ended() const;
  // The same as an entry; nullptr also if it was not read, or is damaged.
  const LogEntry* ending() const { return find(ended()); }
  // By place.
  const std::map<Seq, Error>& damaged() const { return damaged_; }

 private:
  const HistorySum& sum() const;

  std::map<Seq, LogEntry> entries_;
  std::map<Seq, LogEntry> apart_;  // before oldest(), if only for a while
  std::map<Seq, Error> damaged_;
  Seq oldest_ = 1;
  Seq next_ = 1;
  mutable std::optional<HistorySum> sum_ =
      HistorySum();  // nullopt: to be made anew, from all entries
};

}  // namespace outlast::job
