#include "agent/attempt.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/trainer.h"
#include "agent/uploader.h"
#include "agent/work_folder.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "job/line_pattern.h"
#include "job/progress_reader.h"
#include "job/save_schedule.h"
#include "job/spec.h"
#include "notice/notice_source.h"

namespace outlast::agent {
namespace {

constexpr std::size_t kMessagesMax = 256;

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
  open_snapshots();
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
  look_at_snapshots();
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
        // What a crash left in memory was to be gone on from, and not saved before.
        if (is_worth_saving_first()) {
          if (!saving_ && now_ >= save_again_at_) save("notice");
        } else {
          end_leaving();
        }
      } else if (now_ >= restart_at_) {
        begin_life();
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
      sooner(saturating_add(exited_, kLastWordsMax));
      break;
    case Phase::kPausing:
      sooner(restart_at_);
      sooner(save_again_at_);
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

void Attempt::handle(const Trouble& message) {
  tell(EventLevel::kWarning, message.kind, message.error.to_string());
}

}  // namespace outlast::agent
