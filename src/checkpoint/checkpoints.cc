#include "checkpoint/checkpoints.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/result.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/plain_files.h"
#include "checkpoint/prune.h"
#include "checkpoint/read_object.h"
#include "checkpoint/restore.h"
#include "checkpoint/verify.h"
#include "checkpoint/writer.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "store/prefixed_store.h"
#include "sys/call_context.h"

namespace outlast::checkpoint {
namespace {

// A prune that condemns what a save builds on makes it begin again; twice in a row is a prune that
// runs all the time.
constexpr int kSavesMax = 3;

Result<void> check_metrics(const SaveRequest& request) {
  for (const auto& [name, value] : request.metrics) {
    if (!std::isfinite(value)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the metric '{}' is {}, which cannot be compared with others; leave "
                               "it out",
                               name, value));
    }
  }
  return {};
}

}  // namespace

Checkpoints::Checkpoints(const Parts& parts, std::string job,
                         std::unique_ptr<store::PrefixedStore> store, CommitLog log)
    : parts_(parts), job_(std::move(job)), store_(std::move(store)), log_(std::move(log)) {}

Result<std::unique_ptr<Checkpoints>> Checkpoints::open(const Parts& parts, const std::string& job,
                                                       const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string folder, job_folder(job));
  auto store = std::make_unique<store::PrefixedStore>(parts.root, folder);
  OUTLAST_TRY_ASSIGN(CommitLog log, CommitLog::open({.store = *store,
                                                     .threads = parts.threads,
                                                     .clock = parts.clock,
                                                     .random = parts.random,
                                                     .writer = parts.writer},
                                                    ctx));
  return std::unique_ptr<Checkpoints>(
      new Checkpoints(parts, job, std::move(store), std::move(log)));
}

Result<Saved> Checkpoints::save(const State& state, const SaveRequest& request,
                                const sys::CallContext& ctx) {
  OUTLAST_TRY(check_metrics(request));
  if (log_.epoch() == 0) OUTLAST_TRY(log_.take_over(request.why, ctx));
  for (int tries = 1;; ++tries) {
    OUTLAST_TRY_ASSIGN(SavedPart part, save_part(state, request.options, ctx));
    std::vector<SavedPart> parts;  // not a list, whose elements would be copied
    parts.push_back(std::move(part));
    Result<Saved> saved = commit(std::move(parts), request, ctx);
    const bool again = !saved && saved.error().code() == ErrorCode::kConditionFailed;
    if (!again || tries == kSavesMax) return saved;
  }
}

Result<SavedPart> Checkpoints::save_part(const State& state, const SaveOptions& options,
                                         const sys::CallContext& ctx) {
  OUTLAST_TRY(load_base(ctx));
  static const std::vector<Manifest> nothing;
  return checkpoint::save_part(writer_parts(), state, base_ ? base_->manifests : nothing, options,
                               rate_, ctx);
}

// What the newest checkpoint is made of: all that a save may build on. A prune never drops the
// newest one, so that only another attempt's checkpoint, after whose fence we cannot commit any
// more, could make it go.
Result<void> Checkpoints::load_base(const sys::CallContext& ctx) {
  OUTLAST_TRY(log_.refresh(ctx));
  const std::vector<job::Seq> restorable = log_.history().restorable();
  const job::LogEntry* newest =
      restorable.empty() ? nullptr : log_.history().find(restorable.back());
  if (base_ && newest != nullptr && base_->entry.seq == newest->seq) return {};
  base_.reset();
  if (newest == nullptr) return {};
  Result<LoadedCheckpoint> loaded = load_checkpoint(*store_, *newest, ctx);
  // A damaged one is nothing to build on; saving everything anew heals it.
  if (!loaded && is_damage(loaded.error())) return {};
  if (!loaded) return std::move(loaded).error();
  base_ = *std::move(loaded);
  return {};
}

Result<Saved> Checkpoints::commit(std::vector<SavedPart> parts, const SaveRequest& request,
                                  const sys::CallContext& ctx) {
  OUTLAST_TRY(check_metrics(request));
  job::LogEntry entry = {.kind = job::EntryKind::kCheckpoint, .why = request.why};
  entry.checkpoint.step = request.step;
  entry.checkpoint.metrics = request.metrics;
  Saved saved;
  std::set<std::string> needed;
  for (const SavedPart& part : parts) {
    entry.checkpoint.manifests.push_back(part.name);
    needed.insert(manifest_key(part.name));
    for (const Sha256Digest& pack : part.manifest.packs) needed.insert(pack_key(pack));
    saved.files += part.files;
    saved.totals.bytes += part.totals.bytes;
    saved.totals.bytes_known += part.totals.bytes_known;
    saved.totals.bytes_same += part.totals.bytes_same;
    saved.totals.bytes_stored += part.totals.bytes_stored;
    saved.totals.files_again += part.totals.files_again;
  }
  entry.checkpoint.files = saved.files;
  entry.checkpoint.bytes = saved.totals.bytes;
  entry.checkpoint.stored_bytes = saved.totals.bytes_stored;
  const CommitLog::Objection objection = [&](const job::LogEntry& theirs) {
    return check_not_condemned(*store_, theirs, needed, ctx);
  };
  OUTLAST_TRY_ASSIGN(saved.seq, log_.append(std::move(entry), objection, ctx));
  // What the next save builds on need not be fetched: we have just made it.
  base_.reset();
  if (const job::LogEntry* committed = log_.history().find(saved.seq)) {
    base_.emplace(LoadedCheckpoint{.entry = *committed});
    for (SavedPart& part : parts) base_->manifests.push_back(std::move(part.manifest));
  }
  return saved;
}

Result<std::vector<job::LogEntry>> Checkpoints::list(const sys::CallContext& ctx) {
  OUTLAST_TRY(log_.refresh(ctx));
  OUTLAST_TRY(log_.read_all(ctx));
  std::vector<job::LogEntry> entries;
  for (const job::Seq seq : log_.history().restorable()) {
    if (const job::LogEntry* entry = log_.history().find(seq)) entries.push_back(*entry);
  }
  return entries;
}

Result<job::LogEntry> Checkpoints::find(job::Seq seq, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::vector<job::LogEntry> entries, list(ctx));
  std::vector<job::Seq> seqs;
  for (const job::LogEntry& entry : entries) {
    if (entry.seq == seq) return entry;
    seqs.push_back(entry.seq);
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("job '{}' has no checkpoint {} that can be restored; {}", job_, seq,
                           seqs.empty() ? "it has none"
                                        : fmt::format("there are {}", fmt::join(seqs, ", "))));
}

Result<LoadedCheckpoint> Checkpoints::load(const job::LogEntry& entry,
                                           const sys::CallContext& ctx) {
  return load_checkpoint(*store_, entry, ctx);
}

Result<Restored> Checkpoints::restore(const RestoreRequest& request, const sys::CallContext& ctx) {
  const auto restore_one = [&](const job::LogEntry& entry) -> Result<Restored> {
    Result<LoadedCheckpoint> loaded = load(entry, ctx);
    if (!loaded && is_damage(loaded.error())) {
      return Error(ErrorCode::kCorrupt, loaded.error().to_string());
    }
    if (loaded && request.regions_as_files) {
      Result<LoadedCheckpoint> plain = with_regions_as_files(*std::move(loaded));
      loaded = std::move(plain);
    }
    if (!loaded) return loaded.error();
    if (request.take_regions) OUTLAST_TRY(request.take_regions(*loaded, ctx));
    OUTLAST_TRY_ASSIGN(const RestoreSummary summary,
                       restore_to_folder(reader_parts(), parts_.files, *loaded, request.folder,
                                         request.options, ctx));
    return Restored{.entry = entry, .summary = summary};
  };
  if (request.seq) {
    OUTLAST_TRY_ASSIGN(const job::LogEntry entry, find(*request.seq, ctx));
    return restore_one(entry).while_doing(fmt::format("restore checkpoint {}", entry.seq));
  }
  OUTLAST_TRY(log_.refresh(ctx));
  std::set<job::Seq> tried;
  while (true) {
    const job::LogEntry* newest = nullptr;
    for (const job::Seq seq : log_.history().restorable()) {
      if (!tried.contains(seq)) newest = log_.history().find(seq);
    }
    if (newest == nullptr) {
      OUTLAST_TRY_ASSIGN(const bool more, log_.read_older(ctx));
      if (more) continue;
      if (tried.empty()) {
        return Error(ErrorCode::kNotFound, fmt::format("job '{}' has no checkpoint", job_));
      }
      return Error(ErrorCode::kCorrupt,
                   fmt::format("none of the {} checkpoints of job '{}' can be restored; "
                               "'outlast ckpt verify' tells what is wrong with each",
                               tried.size(), job_));
    }
    const job::LogEntry entry = *newest;
    Result<Restored> restored = restore_one(entry);
    if (restored || restored.error().code() != ErrorCode::kCorrupt) return restored;
    tried.insert(entry.seq);
    if (request.passed_over) request.passed_over(entry.seq, restored.error());
  }
}

Result<PruneSummary> Checkpoints::prune(const PruneRequest& request, const sys::CallContext& ctx) {
  OUTLAST_TRY(log_.refresh(ctx));
  return checkpoint::prune(*store_, log_, request, ctx);
}

Result<void> Checkpoints::pin(job::Seq seq, bool pinned, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const job::LogEntry entry, find(seq, ctx));
  const job::EntryKind kind = pinned ? job::EntryKind::kPin : job::EntryKind::kUnpin;
  const CommitLog::Objection objection = [&](const job::LogEntry& theirs) -> Result<void> {
    if (theirs.kind != job::EntryKind::kPrune) return {};
    return Error(ErrorCode::kConditionFailed,
                 fmt::format("somebody prunes this job right now; look with 'outlast ckpt ls' "
                             "whether checkpoint {} is still there, and try again",
                             seq));
  };
  OUTLAST_TRY(log_.append({.kind = kind, .why = "asked", .target = entry.seq}, objection, ctx));
  return {};
}

Result<VerifyReport> Checkpoints::verify(const VerifyRequest& request,
                                         const sys::CallContext& ctx) {
  OUTLAST_TRY(log_.refresh(ctx));
  return checkpoint::verify(reader_parts(), log_, request, ctx);
}

ReaderParts Checkpoints::reader_parts() {
  return {.store = *store_, .threads = parts_.threads, .clock = parts_.clock};
}

WriterParts Checkpoints::writer_parts() {
  return {.store = *store_,
          .files = parts_.files,
          .threads = parts_.threads,
          .clock = parts_.clock,
          .random = parts_.random};
}

}  // namespace outlast::checkpoint
