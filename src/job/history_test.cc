#include "job/history.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "job/log_entry.h"

namespace outlast::job {
namespace {
namespace history_test {

const Error kDamage(ErrorCode::kCorrupt, "a bit has flipped");

struct Written {
  LogEntry entry = {};
  bool damaged = false;  // since
};
using Log = std::vector<Written>;  // place 1 first

// The rules once more, from the first entry to the last, as plainly as can be.
struct NaiveHistory {
  explicit NaiveHistory(const Log& log) {
    for (const Written& written : log) {
      if (!written.damaged) read(written.entry);
    }
  }

  void read(const LogEntry& entry) {
    highest = std::max(highest, entry.floor);
    if (entry.epoch < highest) return;
    highest = entry.epoch;
    counted.insert(entry.seq);
    ended = entry.ended;
    if (entry.kind == EntryKind::kFence) ended = 0;
    if (entry.kind == EntryKind::kDone || entry.kind == EntryKind::kFailed) ended = entry.seq;
    if (entry.kind == EntryKind::kCheckpoint) restorable.push_back(entry.seq);
    if (entry.kind == EntryKind::kPin) pinned.insert(entry.target);
    if (entry.kind == EntryKind::kUnpin) pinned.erase(entry.target);
    if (entry.kind == EntryKind::kPrune) {
      std::vector<Seq> left;
      std::set_intersection(restorable.begin(), restorable.end(), entry.prune.kept.begin(),
                            entry.prune.kept.end(), std::back_inserter(left));
      restorable = left;
      pinned = std::set<Seq>(entry.prune.pinned.begin(), entry.prune.pinned.end());
    }
  }

  Epoch highest = 0;
  std::set<Seq> counted = {};
  std::vector<Seq> restorable = {};
  std::set<Seq> pinned = {};
  Seq ended = 0;
};

// The end of the log, from place `oldest`, read backwards from place `newest_first` and then
// forwards to the end.
History read_tail(const Log& log, Seq oldest, Seq newest_first) {
  History history;
  const auto newest = [&](const Written& written, Seq seq) {
    written.damaged ? history.add_newest_damaged(seq, kDamage) : history.add_newest(written.entry);
  };
  const auto older = [&](const Written& written, Seq seq) {
    written.damaged ? history.add_older_damaged(seq, kDamage) : history.add_older(written.entry);
  };
  newest(log[newest_first - 1], newest_first);
  for (Seq seq = newest_first; seq > oldest; --seq) older(log[seq - 2], seq - 1);
  for (Seq seq = newest_first; seq < log.size(); ++seq) newest(log[seq], seq + 1);
  return history;
}

std::vector<Seq> random_part(const std::vector<Seq>& of) {
  std::vector<Seq> part;
  for (const Seq seq : of) {
    if (*rc::gen::inRange(0, 3) > 0) part.push_back(seq);
  }
  return part;
}

// The entry that an honest writer would add to what has been written, or somebody whose turn is
// over: he knows it, but writes.
LogEntry random_entry(const NaiveHistory& before, Seq seq) {
  LogEntry entry{
      .seq = seq, .epoch = before.highest, .floor = before.highest, .ended = before.ended};
  const int dice = seq == 1 ? 0 : *rc::gen::inRange(0, 14);
  if (dice < 2) {
    entry.epoch = before.highest + 1;
    return entry;
  }
  const bool late = *rc::gen::inRange(0, 4) == 0 && before.highest > 1;
  if (late) entry.epoch = *rc::gen::inRange<Epoch>(1, before.highest);
  entry.kind = EntryKind::kCheckpoint;
  if (dice == 8) entry.kind = EntryKind::kDone;
  if (dice == 9) entry.kind = EntryKind::kFailed;
  if (dice == 10) entry.kind = EntryKind::kPin;
  if (dice == 11) entry.kind = EntryKind::kUnpin;
  if (dice >= 12) entry.kind = EntryKind::kPrune;
  if (has_target(entry.kind)) {
    entry.target = before.restorable.empty() ? 1 : *rc::gen::elementOf(before.restorable);
  }
  if (entry.kind == EntryKind::kPrune) {
    entry.prune.kept = random_part(before.restorable);
    for (const Seq pinned : before.pinned) {
      if (std::binary_search(entry.prune.kept.begin(), entry.prune.kept.end(), pinned)) {
        entry.prune.pinned.push_back(pinned);
      }
    }
  }
  return entry;
}

Log random_log() {
  Log log;
  const auto length = *rc::gen::inRange<std::size_t>(1, 40);
  NaiveHistory so_far({});
  while (log.size() < length) {
    log.push_back({.entry = random_entry(so_far, log.size() + 1)});
    so_far.read(log.back().entry);
  }
  const auto damages = *rc::gen::inRange<std::size_t>(0, 4);
  for (std::size_t i = 0; i < damages; ++i) {
    log[*rc::gen::inRange<std::size_t>(0, length)].damaged = true;
  }
  return log;
}

bool any_readable(const Log& log, Seq oldest) {
  return std::any_of(log.begin() + static_cast<std::ptrdiff_t>(oldest) - 1, log.end(),
                     [](const Written& written) { return !written.damaged; });
}

RC_GTEST_PROP(HistoryProperty, TheEndSaysTheSameAsTheWhole, ()) {
  const Log log = random_log();
  const NaiveHistory whole(log);
  const auto oldest = *rc::gen::inRange<Seq>(1, log.size() + 1);
  History tail = read_tail(log, oldest, *rc::gen::inRange<Seq>(oldest, log.size() + 1));
  RC_ASSERT(tail.oldest() == oldest);
  RC_ASSERT(tail.next() == log.size() + 1);
  RC_PRE(any_readable(log, oldest));
  RC_ASSERT(tail.highest() == whole.highest);
  Seq first_readable = oldest;
  while (log[first_readable - 1].damaged) ++first_readable;
  for (Seq seq = oldest; seq <= log.size(); ++seq) {
    RC_ASSERT(tail.counts(seq) == whole.counted.contains(seq));
    RC_ASSERT((tail.find(seq) == nullptr) == log[seq - 1].damaged);
    RC_ASSERT(tail.damaged().contains(seq) == log[seq - 1].damaged);
  }
  // Somebody whose turn is over is not asked, unless there is nobody else.
  if (tail.counts(first_readable)) RC_ASSERT(tail.ended() == whole.ended);

  // What was read, and what the prunes in it name.
  std::vector<Seq> unread;
  for (const Seq seq : tail.unread_kept()) {
    if (log[seq - 1].damaged) {
      tail.add_apart_damaged(seq, kDamage);
    } else {
      unread.push_back(seq);
    }
  }
  for (const Seq seq : unread) tail.add_apart(log[seq - 1].entry);
  RC_ASSERT(tail.unread_kept().empty());
  const auto first = tail.is_complete() ? whole.restorable.begin()
                                        : std::lower_bound(whole.restorable.begin(),
                                                           whole.restorable.end(), oldest);
  RC_ASSERT(tail.restorable() == std::vector<Seq>(first, whole.restorable.end()));
  if (tail.is_complete() && oldest > 1) RC_ASSERT(tail.pinned() == whole.pinned);
}

// Damage that its neighbours know of: everybody takes over over it, and reads as far back as one
// must. Nobody gets an epoch that somebody else has had, be it in a damaged entry.
RC_GTEST_PROP(HistoryProperty, NextEpochIsAboveEveryEpochThatEverWas, ()) {
  Log log;
  Epoch truly_highest = 0;
  const auto length = *rc::gen::inRange<std::size_t>(1, 30);
  while (log.size() < length) {
    History seen;
    if (!log.empty()) {
      auto oldest = *rc::gen::inRange<Seq>(1, log.size() + 1);
      while (oldest > 1 && !any_readable(log, oldest)) --oldest;
      seen = read_tail(log, oldest, log.size());
    }
    LogEntry entry{.seq = log.size() + 1, .floor = seen.highest()};
    if (*rc::gen::arbitrary<bool>() || seen.empty() || seen.ends_damaged()) {
      entry.epoch = seen.next_epoch();
      RC_ASSERT(entry.epoch > truly_highest);
    } else {
      entry.kind = EntryKind::kCheckpoint;
      entry.epoch = seen.highest();
      RC_ASSERT(entry.epoch == truly_highest);
    }
    truly_highest = entry.epoch;
    log.push_back({.entry = entry});
    if (*rc::gen::inRange(0, 3) == 0) log[*rc::gen::inRange<Seq>(0, log.size())].damaged = true;
    if (*rc::gen::inRange(0, 3) == 0) log.back().damaged = true;
  }
}

struct Maker {
  LogEntry operator()(EntryKind kind, Epoch epoch) {
    const LogEntry entry{.seq = ++seq, .epoch = epoch, .floor = floor, .kind = kind};
    floor = std::max(floor, epoch);
    return entry;
  }
  Seq seq = 0;
  Epoch floor = 0;
};

TEST(History, IsEmptyAtFirst) {
  const History history;
  EXPECT_TRUE(history.empty());
  EXPECT_EQ(history.next(), 1U);
  EXPECT_EQ(history.highest(), 0U);
  EXPECT_EQ(history.next_epoch(), 1U);
  EXPECT_TRUE(history.is_complete());
  EXPECT_FALSE(history.ends_damaged());
  EXPECT_TRUE(history.restorable().empty());
  EXPECT_EQ(history.ending(), nullptr);
}

TEST(History, NothingOfALowerEpochCountsAfterAFence) {
  Maker make;
  History history;
  history.add_newest(make(EntryKind::kFence, 1));
  history.add_newest(make(EntryKind::kCheckpoint, 1));
  history.add_newest(make(EntryKind::kFence, 2));
  history.add_newest(make(EntryKind::kCheckpoint, 1));
  history.add_newest(make(EntryKind::kDone, 1));
  EXPECT_EQ(history.restorable(), (std::vector<Seq>{2}));
  EXPECT_FALSE(history.counts(4));
  EXPECT_EQ(history.ended(), 0U);
  EXPECT_EQ(history.highest(), 2U);
}

TEST(History, AnEndingHoldsUntilTheNextFence) {
  Maker make;
  History history;
  history.add_newest(make(EntryKind::kFence, 1));
  history.add_newest(make(EntryKind::kDone, 1));
  ASSERT_NE(history.ending(), nullptr);
  EXPECT_EQ(history.ending()->kind, EntryKind::kDone);
  LogEntry last_save = make(EntryKind::kCheckpoint, 1);
  last_save.ended = 2;
  history.add_newest(last_save);
  EXPECT_EQ(history.ended(), 2U);
  History tail;
  tail.add_newest(last_save);
  EXPECT_EQ(tail.ended(), 2U);
  EXPECT_EQ(tail.ending(), nullptr);  // not read
  history.add_newest(make(EntryKind::kFence, 2));
  EXPECT_EQ(history.ended(), 0U);
}

// Each damaged place may have been a fence; but once somebody has gone past it, it is known.
TEST(History, DamageAtTheEndMayBeFences) {
  Maker make;
  History history;
  history.add_newest(make(EntryKind::kFence, 1));
  history.add_newest_damaged(2, kDamage);
  history.add_newest_damaged(3, kDamage);
  EXPECT_TRUE(history.ends_damaged());
  EXPECT_EQ(history.highest(), 1U);
  EXPECT_EQ(history.next_epoch(), 4U);
  history.add_newest({.seq = 4, .epoch = 2, .floor = 2, .kind = EntryKind::kCheckpoint});
  EXPECT_FALSE(history.ends_damaged());
  EXPECT_EQ(history.next_epoch(), 3U);
  EXPECT_EQ(history.damaged().size(), 2U);
}

}  // namespace history_test
}  // namespace
}  // namespace outlast::job
