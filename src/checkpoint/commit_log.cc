#include "checkpoint/commit_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "checkpoint/layout.h"
#include "checkpoint/place_reading.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

constexpr std::uint32_t kFirstPage = 16;  // a folder looks at each file that it lists
constexpr std::size_t kOlderBatchMax = 64;
constexpr std::size_t kAllBatchMax = 4096;
constexpr std::size_t kRefreshBatchMax = 16;
// Entries are never removed. A few that are missing are reported; so many are another thing.
constexpr std::size_t kMissingRunMax = 1000;

Error missing(job::Seq seq) {
  return {ErrorCode::kCorrupt,
          fmt::format("entry {} of the commit log is missing: something has removed {}", seq,
                      entry_key(seq))};
}

}  // namespace

Result<CommitLog> CommitLog::open(const Parts& parts, const sys::CallContext& ctx) {
  CommitLog log(parts);
  OUTLAST_TRY_ASSIGN(const job::Seq newest, log.find_newest(ctx));
  if (newest == 0) return log;
  OUTLAST_TRY_ASSIGN(PlaceReading reading, read_place(parts.store, newest, ctx));
  if (reading.is_free()) reading.damage = missing(newest);
  log.take_in(reading);
  // Usually the newest is a checkpoint, or one of the two before it is.
  std::size_t count = 2;
  while (log.history_.restorable().empty()) {
    OUTLAST_TRY_ASSIGN(const bool more, log.read_batch(count, ctx));
    if (!more) break;
    count = std::min(2 * count, kOlderBatchMax);
  }
  const job::Seq ended = log.history_.ended();
  if (ended != 0 && log.history_.ending() == nullptr && !log.history_.damaged().contains(ended)) {
    OUTLAST_TRY(log.read_apart({ended}, ctx));
  }
  return log;
}

// The newest come first. A page may be short or empty, or full of what is no entry.
Result<job::Seq> CommitLog::find_newest(const sys::CallContext& ctx) {
  store::ListOptions options{.prefix = std::string(kEntryPrefix), .page_max = kFirstPage};
  while (true) {
    Result<store::ListPage> page = parts_.store.list(options, ctx);
    if (!page) return page.error().while_doing("find the end of the commit log");
    for (const store::ObjectInfo& object : page->objects) {
      if (const Result<job::Seq> seq = parse_entry_key(object.key)) return *seq;
    }
    if (page->next.empty()) return 0;
    if (options.page_max == kFirstPage) {
      options.page_max = store::ListOptions().page_max;  // from the beginning: pages are alike
    } else {
      options.page_token = page->next;
    }
  }
}

void CommitLog::take_in(const PlaceReading& newest) {
  if (!newest.entry) {
    history_.add_newest_damaged(newest.seq, newest.damage.value_or(missing(newest.seq)));
    return;
  }
  history_.add_newest(*newest.entry);
  // A fence after ours has a higher epoch than ours; if it seems not to, that is no comfort. The
  // floor tells of one that we could not read.
  const bool higher = newest.entry->epoch > epoch_ || newest.entry->floor > epoch_ ||
                      newest.entry->kind == job::EntryKind::kFence;
  if (epoch_ != 0 && !successor_ && higher) successor_ = newest.entry;
}

// Entry by entry: what comes is seldom much. A place that was found free ends a batch, but it may
// have been filled before a later one of the same batch was found; so only the first can end it
// all.
Result<void> CommitLog::refresh(const sys::CallContext& ctx) {
  for (std::size_t count = 1;; count = std::min(2 * count, kRefreshBatchMax)) {
    std::vector<job::Seq> seqs;
    for (job::Seq seq = history_.next(); seqs.size() < count && seq <= job::kSeqMax; ++seq) {
      seqs.push_back(seq);
    }
    OUTLAST_TRY_ASSIGN(const auto readings, read_places(parts_.store, parts_.threads, seqs, ctx));
    if (readings.empty() || readings.front().is_free()) return {};
    for (const PlaceReading& reading : readings) {
      if (reading.is_free()) break;
      take_in(reading);
    }
  }
}

Result<void> CommitLog::read_back(std::size_t count, const sys::CallContext& ctx) {
  std::vector<job::Seq> seqs;
  for (job::Seq seq = history_.oldest() - 1; seq > 0 && seqs.size() < count; --seq) {
    seqs.push_back(seq);
  }
  OUTLAST_TRY_ASSIGN(const auto readings, read_places(parts_.store, parts_.threads, seqs, ctx));
  for (const PlaceReading& reading : readings) {
    missing_run_ = reading.is_free() ? missing_run_ + 1 : 0;
    if (missing_run_ > kMissingRunMax) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("{} entries of the commit log before entry {} are missing: either "
                               "something removes them, which the bucket's rules would show, or {} "
                               "is not of this job and must be removed",
                               kMissingRunMax, history_.oldest() + kMissingRunMax,
                               entry_key(history_.oldest() + kMissingRunMax)));
    }
    if (reading.entry) {
      history_.add_older(*reading.entry);
    } else {
      history_.add_older_damaged(reading.seq, reading.damage.value_or(missing(reading.seq)));
    }
  }
  return {};
}

Result<void> CommitLog::read_apart(const std::vector<job::Seq>& seqs, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const auto readings, read_places(parts_.store, parts_.threads, seqs, ctx));
  for (const PlaceReading& reading : readings) {
    if (reading.entry && reading.seq != history_.ended() &&
        reading.entry->kind != job::EntryKind::kCheckpoint) {
      history_.add_apart_damaged(
          reading.seq,
          Error(ErrorCode::kCorrupt, fmt::format("entry {} of the commit log was kept by a prune "
                                                 "and is no checkpoint",
                                                 reading.seq)));
    } else if (reading.entry) {
      history_.add_apart(*reading.entry);
    } else {
      history_.add_apart_damaged(reading.seq, reading.damage.value_or(missing(reading.seq)));
    }
  }
  return {};
}

Result<bool> CommitLog::read_batch(std::size_t count, const sys::CallContext& ctx) {
  if (!history_.is_complete()) {
    OUTLAST_TRY(read_back(count, ctx));
    return true;
  }
  std::vector<job::Seq> kept = history_.unread_kept();
  if (kept.empty()) return false;
  // The newest first: what was read is so always the end of what can be restored.
  if (kept.size() > count)
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(count));
  OUTLAST_TRY(read_apart(kept, ctx));
  return true;
}

Result<bool> CommitLog::read_older(const sys::CallContext& ctx) {
  const std::size_t before = history_.restorable().size();
  for (std::size_t count = 4; history_.restorable().size() <= before;
       count = std::min(2 * count, kOlderBatchMax)) {
    OUTLAST_TRY_ASSIGN(const bool more, read_batch(count, ctx));
    if (!more) return false;
  }
  return true;
}

Result<void> CommitLog::read_all(const sys::CallContext& ctx) {
  // Batches that double: what the history says is worked out anew after each.
  for (std::size_t count = 4;; count = std::min(2 * count, kAllBatchMax)) {
    OUTLAST_TRY_ASSIGN(const bool more, read_batch(count, ctx));
    if (!more) return {};
  }
}

}  // namespace outlast::checkpoint
