#include "job/history.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "job/log_entry.h"

namespace outlast::job {
namespace {

void keep_only(std::set<Seq>& seqs, const std::vector<Seq>& kept) {
  std::erase_if(seqs, [&](Seq seq) { return !std::binary_search(kept.begin(), kept.end(), seq); });
}

}  // namespace

void HistorySum::prune(const PruneFacts& facts, Seq oldest_read) {
  keep_only(restorable, facts.kept);
  if (pruned) {
    keep_only(kept_before, facts.kept);
  } else {
    kept_before.insert(facts.kept.begin(),
                       std::lower_bound(facts.kept.begin(), facts.kept.end(), oldest_read));
  }
  pruned = true;
  pinned = std::set<Seq>(facts.pinned.begin(), facts.pinned.end());
}

void HistorySum::add(const LogEntry& entry, Seq oldest_read) {
  // The floor stands for what was not read, or can no longer be.
  highest = std::max(highest, entry.floor);
  const bool counts = entry.epoch >= highest;
  // Who does not count may not have known either; but at first there is nobody else to ask.
  if (counts || !begun) ended = entry.ended;
  begun = true;
  if (!counts) {
    uncounted.insert(entry.seq);
    return;
  }
  highest = entry.epoch;
  switch (entry.kind) {
    case EntryKind::kFence:
      ended = 0;
      break;
    case EntryKind::kCheckpoint:
      restorable.insert(entry.seq);
      break;
    case EntryKind::kPrune:
      prune(entry.prune, oldest_read);
      break;
    case EntryKind::kPin:
      pinned.insert(entry.target);
      break;
    case EntryKind::kUnpin:
      pinned.erase(entry.target);
      break;
    case EntryKind::kDone:
    case EntryKind::kFailed:
    case EntryKind::kCancelled:
      ended = entry.seq;
      break;
  }
}

const HistorySum& History::sum() const {
  if (!sum_) {
    sum_.emplace();
    for (const auto& [seq, entry] : entries_) sum_->add(entry, oldest_);
  }
  return *sum_;
}

void History::add_newest(const LogEntry& entry) {
  OUTLAST_CHECK(empty() || entry.seq == next_, "entry {} after {}", entry.seq, next_ - 1);
  if (empty()) oldest_ = entry.seq;
  entries_.emplace(entry.seq, entry);
  next_ = entry.seq + 1;
  if (sum_) sum_->add(entry, oldest_);
}

void History::add_newest_damaged(Seq seq, const Error& damage) {
  OUTLAST_CHECK(empty() || seq == next_, "entry {} after {}", seq, next_ - 1);
  if (empty()) oldest_ = seq;
  damaged_.emplace(seq, damage);
  next_ = seq + 1;
}

void History::add_older(const LogEntry& entry) {
  OUTLAST_CHECK(!empty() && entry.seq + 1 == oldest_, "entry {} before {}", entry.seq, oldest_);
  entries_.emplace(entry.seq, entry);
  oldest_ = entry.seq;
  sum_.reset();
}

void History::add_older_damaged(Seq seq, const Error& damage) {
  OUTLAST_CHECK(!empty() && seq + 1 == oldest_, "entry {} before {}", seq, oldest_);
  damaged_.emplace(seq, damage);
  oldest_ = seq;
  sum_.reset();
}

void History::add_apart(const LogEntry& entry) {
  OUTLAST_CHECK(entry.seq < oldest_, "entry {} is not before {}", entry.seq, oldest_);
  apart_.emplace(entry.seq, entry);
}

void History::add_apart_damaged(Seq seq, const Error& damage) {
  OUTLAST_CHECK(seq < oldest_, "entry {} is not before {}", seq, oldest_);
  damaged_.emplace(seq, damage);
}

bool History::is_complete() const {
  return oldest_ == 1 || sum().pruned;
}

Epoch History::highest() const {
  return sum().highest;
}

// Whoever writes takes an epoch at most one above the highest that it has read. So each place that
// we cannot read can have raised it by one; and when its writer could not read one before it, that
// one has been counted here as well. Places before one that can be read are in its floor.
Epoch History::next_epoch() const {
  const Seq readable_end = entries_.empty() ? oldest_ : entries_.rbegin()->first + 1;
  return highest() + (next_ - readable_end) + 1;
}

bool History::ends_damaged() const {
  return !empty() && damaged_.contains(next_ - 1);
}

bool History::counts(Seq seq) const {
  return entries_.contains(seq) && !sum().uncounted.contains(seq);
}

const LogEntry* History::find(Seq seq) const {
  for (const auto* entries : {&entries_, &apart_}) {
    if (const auto found = entries->find(seq); found != entries->end()) return &found->second;
  }
  return nullptr;
}

std::vector<Seq> History::restorable() const {
  std::vector<Seq> seqs;
  for (const Seq seq : sum().kept_before) {
    if (apart_.contains(seq)) seqs.push_back(seq);
  }
  seqs.insert(seqs.end(), sum().restorable.begin(), sum().restorable.end());
  return seqs;
}

std::vector<Seq> History::unread_kept() const {
  std::vector<Seq> seqs;
  for (const Seq seq : sum().kept_before) {
    if (!apart_.contains(seq) && !damaged_.contains(seq)) seqs.push_back(seq);
  }
  return seqs;
}

std::set<Seq> History::pinned() const {
  return sum().pinned;
}

Seq History::ended() const {
  return sum().ended;
}

}  // namespace outlast::job
