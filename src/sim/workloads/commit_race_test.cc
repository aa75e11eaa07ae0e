// What the race for a commit log checks, one broken log at a time.
#include "sim/workloads/commit_race.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/hash.h"
#include "job/log_entry.h"

namespace outlast::sim {
namespace {
namespace commit_race_test {

using job::EntryKind;
using job::LogEntry;

// Two attempts, one after the other; a stray; a prune.
std::vector<LogEntry> sound_log() {
  const auto entry = [](job::Seq seq, job::Epoch epoch, job::Epoch floor, EntryKind kind) {
    return LogEntry{.seq = seq,
                    .epoch = epoch,
                    .floor = floor,
                    .kind = kind,
                    .why = "entry " + std::to_string(seq),
                    .checkpoint = {.manifests = {sha256(as_bytes("x"))}}};
  };
  std::vector<LogEntry> log = {
      entry(1, 1, 0, EntryKind::kFence),      entry(2, 1, 1, EntryKind::kCheckpoint),
      entry(3, 1, 1, EntryKind::kCheckpoint), entry(4, 2, 1, EntryKind::kFence),
      entry(5, 1, 2, EntryKind::kCheckpoint), entry(6, 2, 2, EntryKind::kPrune),
      entry(7, 2, 2, EntryKind::kCheckpoint)};
  log[4].writer = kStrayWriter;
  log[5].prune.kept = {3};
  return log;
}

std::string fault_of(const std::vector<LogEntry>& log) {
  return find_fault(log).value_or("(none)");
}

TEST(CommitRaceCheck, ASoundLogHolds) {
  EXPECT_EQ(fault_of(sound_log()), "(none)");
  EXPECT_EQ(fault_of({}), "(none)");
  const PlainHistory whole(sound_log());
  EXPECT_EQ(whole.restorable, (std::vector<job::Seq>{3, 7}));
  EXPECT_EQ(whole.highest, 2U);
}

TEST(CommitRaceCheck, FindsAWriterThatDidNotHearTheFence) {
  auto log = sound_log();
  log[6].epoch = 1;
  EXPECT_EQ(fault_of(log), "deaf: entry 7 of epoch 1 is at place 7, after epoch 2");
}

TEST(CommitRaceCheck, FindsAFenceThatIsNotHigher) {
  auto log = sound_log();
  log[3].epoch = 1;
  EXPECT_EQ(fault_of(log), "a low fence: that at place 4 has epoch 1, which was there before");
}

TEST(CommitRaceCheck, FindsAnEntryThatDidNotKnowWhatWasBefore) {
  auto log = sound_log();
  log[6].floor = 1;
  EXPECT_EQ(fault_of(log), "untrue: place 7 says (1, 0) of what was (2, 0)");
  log = sound_log();
  log[6].ended = 3;
  EXPECT_EQ(fault_of(log), "untrue: place 7 says (2, 3) of what was (2, 0)");
}

TEST(CommitRaceCheck, FindsWhatIsThereTwice) {
  auto log = sound_log();
  log[6].why = log[2].why;
  EXPECT_EQ(fault_of(log), "doubled: 'entry 3' is at place 7 once more");
}

// A prune that keeps what could not be restored any more: the end of the log believes it.
TEST(CommitRaceCheck, FindsAnEndThatSaysSomethingElse) {
  auto log = sound_log();
  log[5].prune.kept = {3, 4};
  EXPECT_EQ(fault_of(log), "another history: read from place 6, other checkpoints were kept");
}

}  // namespace commit_race_test
}  // namespace
}  // namespace outlast::sim
