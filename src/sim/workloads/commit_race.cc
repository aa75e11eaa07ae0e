#include "sim/workloads/commit_race.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/layout.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "store/memory_store.h"
#include "store/object_store.h"
#include "sys/call_context.h"

namespace outlast::sim {

MishearingStore::MishearingStore(store::InnerStore inner, Mistake mistake)
    : AroundStore(std::move(inner)), mistake_(mistake) {}

Result<std::string> MishearingStore::put(const std::string& key, BytesView bytes,
                                         const store::WriteIf& condition,
                                         const sys::CallContext& ctx) {
  const bool blindly = mistake_ == Mistake::kPutBlindly;
  Result<std::string> version =
      AroundStore::put(key, bytes, blindly ? store::WriteIf::always() : condition, ctx);
  if (!version && version.error().code() == ErrorCode::kUnknownOutcome &&
      mistake_ == Mistake::kBelieveWon) {
    return std::string("believed");
  }
  return version;
}

Result<store::ObjectInfo> MishearingStore::get(const std::string& key,
                                               const store::GetOptions& options,
                                               const store::ByteSink& sink,
                                               const sys::CallContext& ctx) {
  if (mistake_ != Mistake::kLevelEpochs && mistake_ != Mistake::kHearNoFence) {
    return AroundStore::get(key, options, sink, ctx);
  }
  std::string text;
  const auto keep = [&](const store::ObjectInfo&, BytesView piece) -> Result<void> {
    text += as_text(piece);
    return {};
  };
  OUTLAST_TRY_ASSIGN(store::ObjectInfo info, AroundStore::get(key, options, keep, ctx));
  OUTLAST_TRY_ASSIGN(const job::Seq seq, checkpoint::parse_entry_key(key));
  OUTLAST_TRY_ASSIGN(job::LogEntry entry, job::decode_entry(text, seq));
  entry.epoch = 1;
  entry.floor = std::min<job::Epoch>(entry.floor, 1);
  if (entry.kind == job::EntryKind::kFence && seq > 1 && mistake_ == Mistake::kHearNoFence) {
    entry.kind = job::EntryKind::kUnpin;
    entry.target = 1;
  }
  OUTLAST_TRY(sink(info, as_bytes(job::encode_entry(entry))));
  return info;
}

Result<store::AroundStore::Ticket> MishearingStore::before(const store::StoreCall& /*call*/,
                                                           const sys::CallContext& /*ctx*/) {
  return Ticket{0};
}

std::optional<Error> MishearingStore::after(const store::StoreCall& /*call*/, Ticket /*ticket*/,
                                            const Error* /*error*/,
                                            const sys::CallContext& /*ctx*/) {
  return std::nullopt;
}

Result<std::vector<job::LogEntry>> read_whole_log(const store::MemoryBucket& bucket) {
  const std::size_t length = bucket.object_count();
  std::vector<job::LogEntry> log;
  for (job::Seq seq = 1; seq <= length; ++seq) {
    OUTLAST_TRY_ASSIGN(const auto found, bucket.find(checkpoint::entry_key(seq), {}));
    OUTLAST_TRY_ASSIGN(log.emplace_back(), job::decode_entry(as_text(*found.bytes), seq));
  }
  return log;
}

job::LogEntry stray_entry(const std::vector<job::LogEntry>& log, std::uint64_t dice) {
  const PlainHistory so_far(log);
  job::LogEntry entry{.seq = log.size() + 1,
                      .epoch = 1 + dice % (so_far.highest - 1),
                      .floor = so_far.highest,
                      .ended = so_far.ended,
                      .nonce = fmt::format("stray{}", log.size()),
                      .writer = kStrayWriter,
                      .why = fmt::format("stray {}", log.size())};
  switch (dice / 16 % 3) {
    case 0:
      entry.kind = job::EntryKind::kDone;
      break;
    case 1:
      entry.kind = job::EntryKind::kPrune;  // of everything
      break;
    default:
      entry.kind = job::EntryKind::kCheckpoint;
      entry.checkpoint.manifests = {sha256(as_bytes("stray"))};
  }
  return entry;
}

PlainHistory::PlainHistory(const std::vector<job::LogEntry>& log) {
  for (const job::LogEntry& entry : log) {
    if (entry.epoch < highest) continue;
    highest = entry.epoch;
    using Kind = job::EntryKind;
    if (entry.kind == Kind::kFence) ended = 0;
    if (entry.kind == Kind::kDone || entry.kind == Kind::kFailed ||
        entry.kind == Kind::kCancelled) {
      ended = entry.seq;
    }
    if (entry.kind == Kind::kCheckpoint) restorable.push_back(entry.seq);
    if (entry.kind != Kind::kPrune) continue;
    std::vector<job::Seq> left;
    std::set_intersection(restorable.begin(), restorable.end(), entry.prune.kept.begin(),
                          entry.prune.kept.end(), std::back_inserter(left));
    restorable = std::move(left);
  }
}

namespace {

std::optional<std::string> find_wrong_entry(const std::vector<job::LogEntry>& log, Whys whys) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const job::LogEntry& entry = log[i];
    const PlainHistory before({log.begin(), log.begin() + static_cast<std::ptrdiff_t>(i)});
    if (!seen.insert(whys == Whys::kUnique ? entry.why : entry.nonce).second) {
      return fmt::format("doubled: '{}' is at place {} once more", entry.why, entry.seq);
    }
    if (entry.writer == kStrayWriter) continue;
    if (entry.epoch < before.highest) {
      return fmt::format("deaf: {} of epoch {} is at place {}, after epoch {}", entry.why,
                         entry.epoch, entry.seq, before.highest);
    }
    if (entry.kind == job::EntryKind::kFence && entry.epoch == before.highest) {
      return fmt::format("a low fence: that at place {} has epoch {}, which was there before",
                         entry.seq, entry.epoch);
    }
    if (entry.floor != before.highest || entry.ended != before.ended) {
      return fmt::format("untrue: place {} says ({}, {}) of what was ({}, {})", entry.seq,
                         entry.floor, entry.ended, before.highest, before.ended);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_fault(const std::vector<job::LogEntry>& log, Whys whys) {
  if (auto fault = find_wrong_entry(log, whys)) return fault;
  const PlainHistory whole(log);
  job::History tail;
  for (auto entry = log.rbegin(); entry != log.rend(); ++entry) {
    tail.empty() ? tail.add_newest(*entry) : tail.add_older(*entry);
    const auto& all = whole.restorable;
    const auto first = std::lower_bound(all.begin(), all.end(), entry->seq);
    if (tail.highest() != whole.highest || tail.ended() != whole.ended ||
        tail.restorable() != std::vector<job::Seq>(first, all.end())) {
      return fmt::format("another history: read from place {}, the log says something else",
                         entry->seq);
    }
    if (tail.is_complete() && tail.unread_kept() != std::vector<job::Seq>(all.begin(), first)) {
      return fmt::format("another history: read from place {}, other checkpoints were kept",
                         entry->seq);
    }
  }
  return std::nullopt;
}

}  // namespace outlast::sim
