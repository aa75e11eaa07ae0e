#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/arena.h"
#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/restore_folder.h"
#include "agent/snapshot_host.h"
#include "agent/trainer.h"
#include "agent/tree_watcher.h"
#include "agent/uploader.h"
#include "agent/work_folder.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/restore.h"
#include "job/log_entry.h"
#include "job/progress_reader.h"
#include "job/spec.h"
#include "job/trainer_end.h"
#include "sys/call_context.h"
#include "trainer_files/checkpoint_finder.h"

namespace outlast::agent {
namespace {

// A root that is away while we want to restore from it.
constexpr std::uint64_t kRestoreTriesMax = 5;
constexpr Duration kRestoreWait = std::chrono::seconds(10);

}  // namespace

void Attempt::begin_life() {
  phase_ = Phase::kRestoring;
  snapshot_ = snapshots_ ? snapshots_->begin_life() : std::nullopt;
  if (std::exchange(is_from_memory_, false) && snapshot_) {
    return handle(FolderRestored{.restored = RestoredFolder{.entry = restored_entry_,
                                                            .folder = parts_.work.path(),
                                                            .snapshot_step = snapshot_->step,
                                                            .is_from_memory = true}});
  }
  uploader_.run_task([this](checkpoint::Checkpoints& checkpoints, const sys::CallContext& ctx) {
    post(FolderRestored{.restored = restore(checkpoints, ctx)});
  });
}

// On the uploader's thread: of this object it only uses what is fixed.
Result<RestoredFolder> Attempt::restore(checkpoint::Checkpoints& checkpoints,
                                        const sys::CallContext& ctx) {
  std::uint64_t snapshot_bytes = 0;
  const auto take_regions = [&](const checkpoint::LoadedCheckpoint& checkpoint,
                                const sys::CallContext& call) -> Result<void> {
    if (!snapshots_) return {};
    OUTLAST_TRY_ASSIGN(snapshot_bytes,
                       snapshots_->restore(checkpoints.reader_parts(), checkpoint, call));
    return {};
  };
  Result<RestoredFolder> restored =
      restore_folder(checkpoints, parts_.work, parts_.world.files,
                     {.job = options_.spec.name.str(),
                      .epoch = epoch_,
                      .recognise = options_.recognise,
                      .listing = options_.listing,
                      .passed_over =
                          [this](job::Seq seq, const Error& damage) {
                            post(Trouble{.kind = "damaged",
                                         .error = damage.while_doing(fmt::format(
                                             "checkpoint {} is damaged, and the one before it "
                                             "is used",
                                             seq))});
                          },
                      .take_regions = take_regions},
                     ctx);
  if (restored) restored->snapshot_bytes = snapshot_bytes;
  return restored;
}

void Attempt::handle(FolderRestored message) {
  if (phase_ != Phase::kRestoring) return;
  if (message.restored && snapshots_ && !message.restored->is_from_memory) {
    snapshot_ = snapshots_->newest();
    if (snapshot_) message.restored->snapshot_step = snapshot_->step;
    if (snapshot_ && message.restored->snapshot_bytes > 0) {
      saved_snapshot_ = snapshot_->fingerprint();
    }
  }
  Result<void> started =
      message.restored ? start_trainer(*message.restored) : Result<void>(message.restored.error());
  if (started) return;
  watcher_.reset();
  trainer_.reset();
  if (may_come_back(started.error()) && ++restore_failures_ < kRestoreTriesMax) {
    tell(EventLevel::kWarning, "restore-failed",
         fmt::format("cannot begin, and tries again in {}: {}", format_duration_short(kRestoreWait),
                     started.error().to_string()));
    restart_at_ = saturating_add(now_, kRestoreWait);
    phase_ = Phase::kPausing;
    return;
  }
  end_attempt(AttemptOutcome::kBroken, started.error().to_string(), started.error().code());
}

Result<void> Attempt::start_trainer(const RestoredFolder& restored) {
  ++life_;
  save_failures_ = 0;
  final_failures_ = 0;
  last_looks_ = 0;
  asked_by_term_ = false;
  trouble_.clear();
  seen_.reset();
  unsaved_since_.reset();
  // What is being saved from memory is what this life begins with, or older.
  if (!restored.is_from_memory) saving_.reset();
  not_to_save_.reset();
  has_own_files_ = std::ranges::any_of(
      restored.paths, [](const std::string& path) { return path != WorkFolder::kLifeLog; });
  has_new_snapshot_ = false;
  snapshot_asked_ = 0;
  step_asked_ = 0;
  restored_entry_ = restored.entry;
  asked_to_save_.reset();
  asked_to_leave_.reset();
  saving_answer_ = false;
  saved_answer_ = false;
  killed_ = false;
  unread_ = std::stop_source();
  restless_since_.reset();
  restless_told_ = false;
  settle_told_ = false;
  log_beginning(restored);
  if (restored.entry && !restored.is_from_memory) {
    record_.restored = {.seq = restored.entry->seq,
                        .step = restored.entry->checkpoint.step,
                        .bytes = restored.entry->checkpoint.bytes};
    committed_ = {.seq = restored.entry->seq,
                  .step = restored.entry->checkpoint.step,
                  .time = restored.entry->time,
                  .bytes = restored.entry->checkpoint.bytes};
  }
  reporter_.set_record(record_);

  sys::World& world = parts_.world;
  TreeWatcher::Options watch = {.folder = parts_.work.path(), .listing = options_.listing};
  watch.finder.restored = restored.paths;
  watch.finder.recognise = options_.recognise;
  const std::uint64_t life = life_;
  OUTLAST_TRY_ASSIGN(
      watcher_, TreeWatcher::start({.files = world.files,
                                    .watches = world.file_watches,
                                    .threads = world.threads,
                                    .clock = world.clock},
                                   watch,
                                   {.seen =
                                        [this, life](TreeSeen seen) {
                                          post(Seen{.life = life, .seen = std::move(seen)});
                                        },
                                    .trouble =
                                        [this](const Error& error) {
                                          post(Trouble{.kind = "watch-failed", .error = error});
                                        }}));
  const trainer_files::CommitState& start = watcher_->state_at_start();
  saved_.reset();
  if (restored.entry && start.is_ready) saved_ = start.fingerprint;
  if (snapshot_) {
    saved_ = saved_snapshot_ == snapshot_->fingerprint()
                 ? std::optional(with_snapshot(start.is_ready ? start.fingerprint : 0, *snapshot_))
                 : std::nullopt;
  }
  restored_progress_ = {.step = start.step, .epoch = start.epoch};
  resume_judged_ = !restored.entry;

  OUTLAST_TRY_ASSIGN(
      trainer_, Trainer::start(
                    {.processes = world.processes,
                     .families = world.process_families,
                     .environment = world.environment,
                     .threads = world.threads},
                    trainer_command(restored),
                    {.printed =
                         [this, unread = unread_.get_token()](bool is_err, std::string_view piece) {
                           reporter_.printed(piece);
                           {
                             const MutexLock lock(progress_mutex_);
                             progress_.feed(piece);
                           }
                           parts_.front.printed(is_err, piece, {.stop = unread});
                         },
                     .ended =
                         [this, life](Result<job::TrainerExit> exit) {
                           post(TrainerEnded{.life = life, .exit = std::move(exit)});
                         }}));
  watcher_->watch([trainer = trainer_.get(), folder = parts_.work.path()] {
    return trainer->open_for_writing(folder);
  });
  phase_ = Phase::kRunning;
  restore_failures_ = 0;
  life_began_ = now_;
  // What is in memory alone has waited for its save since the last one: a trainer that crashes
  // again and again must not put it off for ever.
  if (!restored.is_from_memory) last_save_ = now_;
  reporter_.hurry();
  return {};
}

TrainerCommand Attempt::trainer_command(const RestoredFolder& restored) const {
  TrainerCommand command = options_.trainer;
  const auto set = [&](std::string name, std::string value) {
    command.environment.emplace_back(std::move(name), std::move(value));
  };
  for (const auto& [name, value] : options_.spec.env) set(name, value);
  set("OUTLAST_JOB", options_.spec.name.str());
  set("OUTLAST_ATTEMPT", fmt::format("{}", epoch_));
  set("OUTLAST_CHECKPOINT_DIR", parts_.work.path());
  set("OUTLAST_RESUME", restored.entry ? restored.folder : "");
  set("OUTLAST_OUTPUT_DIR", parts_.work.output_dir());
  set("OUTLAST_NOTICE", parts_.work.notice_file());
  // Set in any case: not to that of an agent around us.
  set("OUTLAST_SOCKET", snapshots_ ? snapshots_->path() : "");
  return command;
}

void Attempt::log_beginning(const RestoredFolder& restored) {
  const std::string when = format_rfc3339(parts_.world.clock.wall_now());
  const std::string where = fmt::format("on {}, attempt {}", options_.agent.host, epoch_);
  const bool is_again = life_ > 1 || restored.entry;
  std::string line = fmt::format("{} at {} {}", is_again ? "resumed" : "began", when, where);
  std::string sentence = fmt::format("{} {}", is_again ? "resumed" : "began", where);
  Json facts = {{"attempt", epoch_}};
  if (restored.is_from_memory) {
    const std::string from =
        fmt::format("step {}, which was in memory", restored.snapshot_step.value_or(0));
    line += fmt::format("\nresuming from {}", from);
    sentence += fmt::format(", from {}", from);
    facts["from"] = "memory";
    facts["step"] = restored.snapshot_step.value_or(0);
  } else if (restored.entry) {
    const auto& step = restored.entry->checkpoint.step;
    const std::string from =
        step ? fmt::format("step {} (checkpoint {})", *step, restored.entry->seq)
             : fmt::format("checkpoint {}", restored.entry->seq);
    line += fmt::format("\nresuming from {}", from);
    const std::uint64_t bytes = restored.summary.bytes + restored.snapshot_bytes;
    const std::uint64_t fetched = restored.summary.bytes_fetched + restored.snapshot_bytes;
    sentence += fmt::format(", from {}: {} in {} {}{}, {} fetched", from, format_bytes_short(bytes),
                            restored.summary.files, restored.summary.files == 1 ? "file" : "files",
                            restored.snapshot_bytes > 0 ? " and a snapshot" : "",
                            format_bytes_short(fetched));
    facts["checkpoint"] = restored.entry->seq;
    facts["bytes"] = bytes;
    facts["fetched_bytes"] = fetched;
    if (step) facts["step"] = *step;
  } else {
    sentence = fmt::format("{} {}{}", is_again ? "started again" : "began", where,
                           is_again ? ", from the beginning: there is no checkpoint yet" : "");
  }
  const Result<void> logged = parts_.work.log_life(line);
  if (!logged) tell(EventLevel::kWarning, "life-log", logged.error().to_string());
  tell(restored.entry ? EventLevel::kGood : EventLevel::kNote, is_again ? "resumed" : "began",
       std::move(sentence), std::move(facts));
  if (restored.set_aside > 0) {
    tell(EventLevel::kNote, "set-aside",
         fmt::format("{} that no checkpoint has {} set aside, in {}", restored.set_aside,
                     restored.set_aside == 1 ? "was" : "were", parts_.work.aside_folder()));
  }
}

}  // namespace outlast::agent
