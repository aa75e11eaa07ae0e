#include "job/log_entry.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"

namespace outlast::job {
namespace {

constexpr std::size_t kNonceBytesMax = 64;
constexpr std::size_t kTextBytesMax = 256;
constexpr std::size_t kMetricsMax = 256;
constexpr std::size_t kManifestsMax = 4096;
constexpr std::size_t kKeptMax = 500'000;

struct KindName {
  EntryKind kind;
  std::string_view name;
};
constexpr std::array<KindName, 8> kKindNames = {{{EntryKind::kFence, "fence"},
                                                 {EntryKind::kCheckpoint, "checkpoint"},
                                                 {EntryKind::kPrune, "prune"},
                                                 {EntryKind::kPin, "pin"},
                                                 {EntryKind::kUnpin, "unpin"},
                                                 {EntryKind::kDone, "done"},
                                                 {EntryKind::kFailed, "failed"},
                                                 {EntryKind::kCancelled, "cancelled"}}};

Error bad_entry(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

// UTF-8 without control characters: anything else could not be told from its own text.
Result<void> check_plain_text(std::string_view what, std::string_view text) {
  if (text.size() > kTextBytesMax) {
    return bad_entry(
        fmt::format("{} has {} bytes; at most {} are kept", what, text.size(), kTextBytesMax));
  }
  for (std::size_t at = 0; at < text.size();) {
    const auto character = decode_utf8(text, at);
    if (!character || character->code < 0x20 || character->code == 0x7f) {
      return bad_entry(fmt::format("{} is not plain text at byte {}", what, at + 1));
    }
    at += character->bytes;
  }
  return {};
}

Result<void> check_number(std::string_view what, std::uint64_t number, std::uint64_t low,
                          std::uint64_t high) {
  if (number >= low && number <= high) return {};
  return bad_entry(fmt::format("{} is {}; it must be from {} to {}", what, number, low, high));
}

Result<void> check_nonce(std::string_view nonce) {
  const bool spelled = std::all_of(nonce.begin(), nonce.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  });
  if (spelled && !nonce.empty() && nonce.size() <= kNonceBytesMax) return {};
  return bad_entry(
      fmt::format("the nonce must be 1 to {} lower-case letters and digits", kNonceBytesMax));
}

Result<void> check_time(WallTime time) {
  if (time.time_since_epoch() % std::chrono::milliseconds(1) != Duration::zero()) {
    return bad_entry("the time is not in whole milliseconds");
  }
  const auto same = parse_rfc3339(format_rfc3339(time));
  if (same && *same == time) return {};
  return bad_entry("the time is too far from now to be written");
}

Result<void> check_seqs(std::string_view what, const std::vector<Seq>& seqs, Seq before) {
  if (seqs.size() > kKeptMax) {
    return bad_entry(
        fmt::format("{} are {}; at most {} fit into an entry", what, seqs.size(), kKeptMax));
  }
  const bool rising =
      std::adjacent_find(seqs.begin(), seqs.end(), std::greater_equal<>()) == seqs.end();
  if (rising && (seqs.empty() || (seqs.front() > 0 && seqs.back() < before))) return {};
  return bad_entry(fmt::format("{} must be places before {}, rising, each once", what, before));
}

Result<void> check_facts(const CheckpointFacts& facts) {
  OUTLAST_TRY(check_number("the number of manifests", facts.manifests.size(), 1, kManifestsMax));
  OUTLAST_TRY(check_number("the number of metrics", facts.metrics.size(), 0, kMetricsMax));
  for (const auto& [name, value] : facts.metrics) {
    if (name.empty()) return bad_entry("a metric has no name");
    OUTLAST_TRY(check_plain_text("the name of a metric", name));
    if (!std::isfinite(value)) {
      return bad_entry(
          fmt::format("the metric '{}' is {}, which is no number to compare by: leave it "
                      "out",
                      name, value));
    }
  }
  OUTLAST_TRY(check_number("the step", facts.step.value_or(0), 0, kEntryNumberMax));
  OUTLAST_TRY(check_number("the number of files", facts.files, 0, kEntryNumberMax));
  OUTLAST_TRY(check_number("the size", facts.bytes, 0, kEntryNumberMax));
  return check_number("the stored size", facts.stored_bytes, 0, kEntryNumberMax);
}

Result<void> check_facts(const PruneFacts& facts, Seq seq) {
  OUTLAST_TRY(check_seqs("the kept checkpoints", facts.kept, seq));
  OUTLAST_TRY(check_seqs("the pinned checkpoints", facts.pinned, seq));
  if (std::includes(facts.kept.begin(), facts.kept.end(), facts.pinned.begin(),
                    facts.pinned.end())) {
    return {};
  }
  return bad_entry("a pinned checkpoint is not among those kept");
}

}  // namespace

std::string_view to_string(EntryKind kind) {
  for (const KindName& known : kKindNames) {
    if (known.kind == kind) return known.name;
  }
  return "unknown";
}

Result<EntryKind> parse_entry_kind(std::string_view name) {
  for (const KindName& known : kKindNames) {
    if (known.name == name) return known.kind;
  }
  return bad_entry(fmt::format("'{}' is no kind of entry", name));
}

bool has_target(EntryKind kind) {
  return kind == EntryKind::kPin || kind == EntryKind::kUnpin;
}

Result<void> check_entry(const LogEntry& entry) {
  OUTLAST_TRY(check_number("the place", entry.seq, 1, kSeqMax));
  OUTLAST_TRY(check_number("the epoch", entry.epoch, 1, kEntryNumberMax));
  OUTLAST_TRY(check_number("the epoch before", entry.floor, 0, kEntryNumberMax));
  OUTLAST_TRY(check_number("the place of the ending", entry.ended, 0, entry.seq - 1));
  OUTLAST_TRY(check_nonce(entry.nonce));
  OUTLAST_TRY(check_time(entry.time));
  OUTLAST_TRY(check_plain_text("the writer", entry.writer));
  OUTLAST_TRY(check_plain_text("the reason", entry.why));
  if (has_target(entry.kind)) {
    OUTLAST_TRY(check_number("the place of the checkpoint", entry.target, 1, entry.seq - 1));
  }
  if (entry.kind == EntryKind::kCheckpoint) return check_facts(entry.checkpoint);
  if (entry.kind == EntryKind::kPrune) return check_facts(entry.prune, entry.seq);
  return {};
}

}  // namespace outlast::job
