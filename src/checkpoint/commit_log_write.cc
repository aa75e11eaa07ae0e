// The half of the commit log that writes.
#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "checkpoint/place_reading.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

constexpr std::size_t kNonceLength = 26;  // 130 bits
// A store that says again and again that it does not know, and has nothing, is not a store.
constexpr int kDoubtsMax = 20;

Error preempted(job::Epoch ours, const job::LogEntry& by) {
  return {ErrorCode::kPreempted,
          fmt::format("this attempt has lost its turn: {} took the job over with epoch {} at {} "
                      "(entry {} of the commit log), and nothing of epoch {} counts any more; this "
                      "attempt must stop",
                      by.writer.empty() ? "another machine" : by.writer, by.epoch,
                      format_rfc3339(by.time), by.seq, ours)};
}

}  // namespace

Result<PlaceReading> CommitLog::claim(const job::LogEntry& entry, const sys::CallContext& ctx) {
  const std::string text = job::encode_entry(entry);
  for (int doubts = 0;; ++doubts) {
    const Result<std::string> put =
        parts_.store.put(entry_key(entry.seq), as_bytes(text), store::WriteIf::absent(), ctx);
    if (put) return PlaceReading{.seq = entry.seq, .entry = entry};
    const ErrorCode code = put.error().code();
    const bool settled = code != ErrorCode::kUnknownOutcome && code != ErrorCode::kAlreadyExists;
    if (settled || doubts == kDoubtsMax) {
      return put.error().while_doing(fmt::format("add entry {} to the commit log", entry.seq));
    }
    OUTLAST_TRY_ASSIGN(PlaceReading there, read_place(parts_.store, entry.seq, ctx));
    // If nothing is there, ours may still come: only filling the place, with the same bytes,
    // settles it.
    if (!there.is_free()) return there;
  }
}

// A place that is lost is read before the next is tried, so that whoever fills a place has read
// all before it: that makes `floor` true, and an entry of a lower epoch after a fence impossible.
Result<job::LogEntry> CommitLog::write(job::LogEntry draft, const EpochRule& epoch,
                                       const Objection& objection, const sys::CallContext& ctx) {
  draft.nonce = make_token(parts_.random, kNonceLength);
  draft.writer = parts_.writer;
  draft.time = std::chrono::floor<std::chrono::milliseconds>(parts_.clock.wall_now());
  OUTLAST_TRY_ASSIGN(draft.epoch, epoch());
  while (true) {
    draft.seq = history_.next();
    draft.floor = history_.highest();
    draft.ended = history_.ended();
    OUTLAST_TRY(job::check_entry(draft).while_doing("add an entry to the commit log"));
    OUTLAST_TRY_ASSIGN(const PlaceReading there, claim(draft, ctx));
    if (there.entry && there.entry->nonce == draft.nonce) {
      history_.add_newest(*there.entry);
      return draft;
    }
    take_in(there);
    OUTLAST_TRY_ASSIGN(draft.epoch, epoch());
    if (there.entry && objection) OUTLAST_TRY(objection(*there.entry));
  }
}

// Damage does not keep a job from going on: the fence goes past it, with an epoch above whatever
// the damaged entries can have had. If one of them was a fence, its attempt finds ours after it and
// stops; if one was a checkpoint or an ending, it is lost, and reported wherever it is missed.
Result<job::Epoch> CommitLog::take_over(const std::string& why, const Objection& objection,
                                        const sys::CallContext& ctx) {
  const auto above_all = [this]() -> Result<job::Epoch> { return history_.next_epoch(); };
  OUTLAST_TRY_ASSIGN(const job::LogEntry fence, write({.kind = job::EntryKind::kFence, .why = why},
                                                      above_all, objection, ctx));
  epoch_ = fence.epoch;
  successor_.reset();
  return epoch_;
}

Result<job::Epoch> CommitLog::epoch_to_append() const {
  if (successor_) return preempted(epoch_, *successor_);
  if (history_.empty()) {
    return Error(ErrorCode::kNotFound,
                 "the commit log is empty: no attempt at this job has begun yet");
  }
  // It may be a fence, and then nothing of ours may follow it.
  if (history_.ends_damaged()) {
    return history_.damaged()
        .at(history_.next() - 1)
        .while_doing(
            "nothing can be added to the commit log before somebody takes the job over, "
            "because its newest entry may say that somebody has");
  }
  return epoch_ != 0 ? epoch_ : history_.highest();
}

Result<job::Seq> CommitLog::append(job::LogEntry draft, const Objection& objection,
                                   const sys::CallContext& ctx) {
  // Whoever opened an empty log has built nothing on what it said.
  if (history_.empty()) OUTLAST_TRY(refresh(ctx));
  OUTLAST_TRY_ASSIGN(const job::LogEntry entry,
                     write(std::move(draft), [this] { return epoch_to_append(); }, objection, ctx));
  return entry.seq;
}

}  // namespace outlast::checkpoint
