#include "agent/uploader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/arena.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/tree_scan.h"
#include "checkpoint/writer.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "trainer_files/tree_listing.h"

namespace outlast::agent {
namespace {

constexpr std::size_t kUploaderOrdersMax = 4;
// A prune reads the whole log and lists the store: not for each checkpoint.
constexpr std::uint64_t kSavesBetweenPrunes = 10;
// What a prune that runs elsewhere condemns while we save makes the save begin again.
constexpr int kTriesMax = 3;

Error moved_on(const std::string& path) {
  return {ErrorCode::kConditionFailed,
          fmt::format("'{}' was changed while it was being saved", path)};
}

// Of a look at the trainer's files. A store's own "not found" is something else.
bool is_moved_on(const Error& error) {
  return error.code() == ErrorCode::kConditionFailed || error.code() == ErrorCode::kNotFound;
}

bool is_as_listed(const checkpoint::FoundItem& found, const trainer_files::ListedEntry& listed) {
  if (found.info.type != listed.type) return false;
  if (found.info.type == sys::FileType::kDirectory) return true;
  return found.info.size == listed.size && found.info.modified == listed.modified &&
         found.info.changed == listed.changed && found.info.inode == listed.inode;
}

}  // namespace

Uploader::Uploader(const Parts& parts, const Options& options,
                   std::unique_ptr<checkpoint::Checkpoints> checkpoints, Listener listener)
    : parts_(parts),
      options_(options),
      listener_(std::move(listener)),
      checkpoints_(std::move(checkpoints)),
      inbox_(parts.threads, kUploaderOrdersMax),
      thread_(parts.threads.spawn("uploader", [this](const std::stop_token& stop) { run(stop); })) {
}

void Uploader::save(SaveOrder order) {
  hurry_ = std::stop_source();
  end_upkeep();
  (void)inbox_.post(HurriedSave{.order = std::move(order), .hurry = hurry_.get_token()}, {});
}

void Uploader::hurry() {
  hurry_.request_stop();
}

void Uploader::run_task(Task task) {
  end_upkeep();
  (void)inbox_.post(std::move(task), {});
}

void Uploader::end(EndOrder order) {
  end_upkeep();
  (void)inbox_.post(std::move(order), {});
}

void Uploader::end_upkeep() {
  const MutexLock lock(upkeep_mutex_);
  ++orders_waiting_;
  upkeep_.request_stop();
}

void Uploader::run(const std::stop_token& stop) {
  const sys::CallContext ctx = {.stop = stop};
  MonoTime next_look = saturating_add(parts_.clock.mono_now(), options_.look_every);
  while (!stop.stop_requested()) {
    const Result<Order> order = inbox_.receive(ctx.until(next_look));
    if (!order) {
      if (order.error().code() == ErrorCode::kCancelled) return;
      look_at_log(ctx);
      next_look = saturating_add(parts_.clock.mono_now(), options_.look_every);
      continue;
    }
    {
      const MutexLock lock(upkeep_mutex_);
      --orders_waiting_;
    }
    if (const auto* const save = std::get_if<HurriedSave>(&*order)) {
      listener_.saved(save_now(*save, ctx));
      prune(ctx);
    } else if (const auto* const task = std::get_if<Task>(&*order)) {
      (*task)(*checkpoints_, ctx);
    } else {
      listener_.ended({.seq = end_now(std::get<EndOrder>(*order), ctx)});
    }
  }
}

Result<job::Seq> Uploader::end_now(const EndOrder& order, const sys::CallContext& ctx) {
  if (order.before) OUTLAST_TRY(order.before(ctx));
  OUTLAST_TRY_ASSIGN(const job::Seq seq,
                     checkpoints_->log().append({.kind = order.kind, .why = order.why}, {}, ctx));
  has_ended_ = true;
  return seq;
}

SaveReport Uploader::save_now(const HurriedSave& save, const sys::CallContext& ctx) {
  SaveReport report{.fingerprint = save.order.fingerprint, .step = save.order.step};
  for (int tries = 1;; ++tries) {
    const Result<void> saved = try_save(save, report, ctx);
    if (saved) {
      ++saved_since_prune_;
      return report;
    }
    const ErrorCode code = saved.error().code();
    if (!report.moved_on && code == ErrorCode::kConditionFailed && tries < kTriesMax) continue;
    report.failure = saved.error();
    return report;
  }
}

// The files are compared with what was judged complete before and after they are read: whatever the
// trainer does meanwhile, what is committed is that very state.
Result<void> Uploader::try_save(const HurriedSave& save, SaveReport& report,
                                const sys::CallContext& ctx) {
  const SaveOrder& order = save.order;
  const MonoTime began = parts_.clock.mono_now();
  const std::unique_ptr<SnapshotReading> reading =
      order.snapshot ? SnapshotReading::begin(*order.snapshot) : nullptr;
  report.moved_on = order.snapshot && !reading;
  if (report.moved_on) return moved_on(std::string(kSnapshotRegion));
  Result<checkpoint::State> state = scan(order, ctx);
  report.moved_on = !state && is_moved_on(state.error());
  if (!state) return std::move(state).error();
  const checkpoint::SaveOptions options = {.stands_back = order.stands_back, .hurry = save.hurry};
  std::vector<checkpoint::SavedPart> parts;
  for (const checkpoint::State& one : with_snapshot(*std::move(state), order)) {
    Result<checkpoint::SavedPart> part = checkpoints_->save_part(one, options, ctx);
    report.moved_on = !part && part.error().code() == ErrorCode::kConditionFailed;
    if (!part) return std::move(part).error();
    parts.push_back(*std::move(part));
  }
  const Result<checkpoint::State> after = scan(order, ctx);
  report.moved_on = !after && is_moved_on(after.error());
  if (!after) return after.error();
  report.moved_on = reading && !reading->is_still_whole();
  if (report.moved_on) return moved_on(std::string(kSnapshotRegion));
  const MonoTime uploaded = parts_.clock.mono_now();
  OUTLAST_TRY_ASSIGN(
      report.saved,
      checkpoints_->commit(std::move(parts),
                           {.why = order.why, .step = order.step, .metrics = order.metrics}, ctx));
  report.upload_time = uploaded - began;
  report.commit_time = parts_.clock.mono_now() - uploaded;
  return {};
}

Result<checkpoint::State> Uploader::scan(const SaveOrder& order, const sys::CallContext& ctx) {
  std::vector<std::string> paths = order.state.paths;
  for (const std::string& path : options_.beside) {
    if (parts_.files.stat(sys::join_path(options_.folder, path))) paths.push_back(path);
  }
  std::ranges::sort(paths);
  const auto repeated = std::ranges::unique(paths);
  paths.erase(repeated.begin(), repeated.end());
  OUTLAST_TRY_ASSIGN(checkpoint::TreeScan scan,
                     checkpoint::scan_paths(parts_.files, options_.folder, paths, ctx));
  for (const trainer_files::ListedEntry& listed : order.state.entries) {
    const auto found = std::ranges::lower_bound(
        scan.found, listed.path, {},
        [](const checkpoint::FoundItem& item) -> const std::string& { return item.item.path; });
    const bool is_there = found != scan.found.end() && found->item.path == listed.path;
    if (!is_there || !is_as_listed(*found, listed)) return moved_on(listed.path);
  }
  checkpoint::State state{.files = std::move(scan.found)};
  state.origin = checkpoint::origin_of(parts_.files, state.files);
  return state;
}

std::vector<checkpoint::State> Uploader::with_snapshot(checkpoint::State files,
                                                       const SaveOrder& order) {
  std::vector<checkpoint::State> states;
  states.push_back(std::move(files));
  if (!order.snapshot) return states;
  states.resize(order.snapshot->parts.size());
  for (std::uint32_t rank = 0; rank < states.size(); ++rank) {
    const JobSnapshot::Part& part = order.snapshot->parts[rank];
    states[rank].rank = rank;
    states[rank].regions.push_back(
        {.name = std::string(kSnapshotRegion), .bytes = part.arena->bytes_of(part.snapshot)});
  }
  return states;
}

void Uploader::prune(const sys::CallContext& ctx) {
  if (saved_since_prune_ < kSavesBetweenPrunes + options_.keep) return;
  std::stop_source upkeep;
  {
    const MutexLock lock(upkeep_mutex_);
    if (orders_waiting_ > 0) return;
    upkeep_ = upkeep;
  }
  const std::stop_callback stopped(ctx.stop, [&upkeep] { upkeep.request_stop(); });
  const auto pruned = checkpoints_->prune({.retention = {.last = options_.keep}, .why = "keep"},
                                          {.stop = upkeep.get_token()});
  // Something more urgent came: once more after the next save.
  if (!pruned && pruned.error().code() == ErrorCode::kCancelled) return;
  saved_since_prune_ = 0;
  if (!pruned) listener_.prune_failed(pruned.error());
}

void Uploader::look_at_log(const sys::CallContext& ctx) {
  if (has_lost_turn_ || has_ended_) return;
  checkpoint::CommitLog& log = checkpoints_->log();
  // A root that is away says nothing about our turn; saves tell of that.
  if (!log.refresh(ctx)) return;
  const job::History& history = log.history();
  if (history.highest() > log.epoch()) {
    has_lost_turn_ = true;
    const job::LogEntry* const newest = history.find(history.next() - 1);
    listener_.turn({.kind = TurnNews::Kind::kTakenOver,
                    .entry = newest != nullptr ? *newest : job::LogEntry{}});
  } else if (history.ended() != 0) {
    has_lost_turn_ = true;
    const job::LogEntry* const ending = history.ending();
    listener_.turn(
        {.kind = TurnNews::Kind::kEnded, .entry = ending != nullptr ? *ending : job::LogEntry{}});
  }
}

}  // namespace outlast::agent
