#include "agent/attempt.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/restore_folder.h"
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
#include "checkpoint/restore.h"
#include "job/line_pattern.h"
#include "job/log_entry.h"
#include "job/progress_reader.h"
#include "job/save_schedule.h"
#include "job/spec.h"
#include "job/trainer_end.h"
#include "notice/notice_source.h"
#include "sys/call_context.h"
#include "trainer_files/checkpoint_finder.h"

namespace outlast::agent {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMessagesMax = 256;
// A root that is away while we want to restore from it.
constexpr std::uint64_t kRestoreTriesMax = 5;
constexpr Duration kRestoreWait = seconds(10);

job::ProgressReader progress_reader(const job::ProgressRules& rules) {
  if (!rules.regex) return job::ProgressReader();
  // The job file was read with the same check.
  Result<job::LinePattern> pattern = job::compile_progress_regex(*rules.regex);
  return pattern ? job::ProgressReader(*std::move(pattern)) : job::ProgressReader();
}

}  // namespace

Attempt::Attempt(const Parts& parts, AttemptOptions options, Begun begun)
    : parts_(parts),
      options_(std::move(options)),
      epoch_(begun.epoch),
      began_(parts.world.clock.mono_now()),
      record_({.epoch = begun.epoch,
               .agent = options_.agent,
               .version = options_.version,
               .began = parts.world.clock.wall_now(),
               .command = options_.command,
               .folder = options_.trainer.folder,
               .ends = begun.ends}),
      job_store_(begun.checkpoints->store()),
      inbox_(parts.world.threads, kMessagesMax),
      uploader_(
          {.files = parts.world.files, .threads = parts.world.threads, .clock = parts.world.clock},
          {.folder = parts.work.path(),
           .beside = {std::string(WorkFolder::kLifeLog)},
           .keep = options_.spec.checkpoint.keep,
           .look_every = kBeatEvery},
          std::move(begun.checkpoints),
          {.saved = [this](SaveReport report) { post(std::move(report)); },
           .turn = [this](TurnNews news) { post(std::move(news)); },
           .ended = [this](EndReport report) { post(std::move(report)); },
           .prune_failed =
               [this](const Error& error) {
                 post(Trouble{.kind = "prune-failed", .error = error});
               }}),
      reporter_({.root = parts.root,
                 .job = job_store_,
                 .threads = parts.world.threads,
                 .clock = parts.world.clock},
                options_.spec.name.str(), epoch_),
      board_([this] { post(NoticeChanged{}); }),
      progress_(progress_reader(options_.spec.progress)) {}

Attempt::~Attempt() = default;

void Attempt::post(Message message) {
  (void)inbox_.post(std::move(message), {});
}

AttemptEnding Attempt::run(std::vector<std::unique_ptr<notice::NoticeSource>> sources) {
  now_ = began_;
  notices_ =
      std::make_unique<notice::NoticeWatch>(parts_.world.threads, board_, std::move(sources));
  reporter_.set_record(record_);
  write_notice_file();  // removes what an earlier attempt has left
  restart_at_ = now_;
  while (!ending_) {
    now_ = parts_.world.clock.mono_now();
    // One decision may ask for the next.
    for (Phase before = Phase::kOver; before != phase_ && !ending_;) {
      before = phase_;
      decide();
    }
    publish();
    if (ending_) break;
    Result<Message> message = inbox_.receive({.deadline = next_wake()});
    now_ = parts_.world.clock.mono_now();
    if (message) std::visit([this](auto& one) { handle(std::move(one)); }, *message);
  }
  finish(*ending_);
  return *ending_;
}

void Attempt::decide() {
  look_at_place();
  look_at_hint();
  look_at_notice();
  if (saving_ && (leaving_ || phase_ != Phase::kRunning)) uploader_.hurry();
  switch (phase_) {
    case Phase::kRunning:
      if (killed_ && now_ >= gone_by_) {
        end_leaving();
      } else if (leaving_) {
        leave_when_due(*leaving_);
      } else {
        save_if_due();
        tell_if_unfound();
      }
      break;
    case Phase::kSettling:
      settle();
      break;
    case Phase::kPausing:
      if (is_too_late_to_start()) {
        end_leaving();
      } else if (now_ >= restart_at_) {
        phase_ = Phase::kRestoring;
        uploader_.run_task(
            [this](checkpoint::Checkpoints& checkpoints, const sys::CallContext& ctx) {
              post(FolderRestored{.restored = restore(checkpoints, ctx)});
            });
      }
      break;
    case Phase::kEnding:
      if (!ending_in_flight_ && now_ >= end_again_at_) {
        ending_in_flight_ = true;
        uploader_.end(last_entry_);
      }
      // Somebody wants us gone, and the root is away: the next attempt finds it out once more.
      if (leaving_ && now_ >= leaving_->ends) end_attempt(leaving_->outcome, leaving_->why);
      break;
    case Phase::kRestoring:
      // What is being fetched is given up: nobody would train with it.
      if (is_too_late_to_start()) end_leaving();
      break;
    case Phase::kLooking:
    case Phase::kOver:
      break;
  }
}

MonoTime Attempt::next_wake() const {
  MonoTime wake = saturating_add(now_, std::min(kBeatEvery, parts_.front.stands_every()));
  const auto sooner = [&](MonoTime time) {
    if (time > now_) wake = std::min(wake, time);
  };
  switch (phase_) {
    case Phase::kRunning: {
      if (killed_) sooner(gone_by_);
      if (leaving_) {
        sooner(kill_time(*leaving_));
        if (leaving_->plan && leaving_->plan->ask_by) sooner(*leaving_->plan->ask_by);
        if (const auto chance = last_chance()) sooner(*chance);
        sooner(saturating_add(leaving_->since, kRestMax));
      } else {
        const job::SaveDue due = job::next_save(options_.spec.checkpoint.every, save_facts());
        if (due.kind == job::SaveDue::Kind::kAtTime) sooner(due.time);
      }
      sooner(save_again_at_);
      break;
    }
    case Phase::kSettling:
      sooner(save_again_at_);
      break;
    case Phase::kPausing:
      sooner(restart_at_);
      break;
    case Phase::kEnding:
      sooner(end_again_at_);
      break;
    case Phase::kLooking:
    case Phase::kRestoring:
    case Phase::kOver:
      break;
  }
  if (leaving_) sooner(leaving_->ends);
  return wake;
}

// On the uploader's thread: of this object it only uses what is fixed.
Result<RestoredFolder> Attempt::restore(checkpoint::Checkpoints& checkpoints,
                                        const sys::CallContext& ctx) {
  return restore_folder(checkpoints, parts_.work, parts_.world.files,
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
                             }},
                        ctx);
}

void Attempt::handle(FolderRestored message) {
  if (phase_ != Phase::kRestoring) return;
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
  saving_.reset();
  not_to_save_.reset();
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
  if (restored.entry) {
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
  saved_ = restored.entry && start.is_ready ? std::optional(start.fingerprint) : std::nullopt;
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
  last_save_ = now_;
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
  return command;
}

void Attempt::log_beginning(const RestoredFolder& restored) {
  const std::string when = format_rfc3339(parts_.world.clock.wall_now());
  const std::string where = fmt::format("on {}, attempt {}", options_.agent.host, epoch_);
  const bool is_again = life_ > 1 || restored.entry;
  std::string line = fmt::format("{} at {} {}", is_again ? "resumed" : "began", when, where);
  std::string sentence = fmt::format("{} {}", is_again ? "resumed" : "began", where);
  Json facts = {{"attempt", epoch_}};
  if (restored.entry) {
    const auto& step = restored.entry->checkpoint.step;
    const std::string from =
        step ? fmt::format("step {} (checkpoint {})", *step, restored.entry->seq)
             : fmt::format("checkpoint {}", restored.entry->seq);
    line += fmt::format("\nresuming from {}", from);
    sentence += fmt::format(", from {}: {} in {} {}, {} fetched", from,
                            format_bytes_short(restored.summary.bytes), restored.summary.files,
                            restored.summary.files == 1 ? "file" : "files",
                            format_bytes_short(restored.summary.bytes_fetched));
    facts["checkpoint"] = restored.entry->seq;
    facts["bytes"] = restored.summary.bytes;
    facts["fetched_bytes"] = restored.summary.bytes_fetched;
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

void Attempt::handle(const Trouble& message) {
  tell(EventLevel::kWarning, message.kind, message.error.to_string());
}

}  // namespace outlast::agent
