#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>

#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/event.h"
#include "agent/uploader.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "job/log_entry.h"
#include "job/notice_plan.h"
#include "job/place_facts.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "sys/file_ops.h"

namespace outlast::agent {
namespace {

using std::chrono::seconds;

// An end that is further away than this (a lifetime of a day) is known, and nothing is done yet.
constexpr Duration kPressing = std::chrono::minutes(10);
// What must fit between the trainer's end and the machine's: a last commit, and the last words. But
// of a short notice no more than a third.
constexpr Duration kLastWords = seconds(1);
constexpr int kReserveShares = 3;
// For who was killed to be gone, where no machine ends: what hangs in the kernel may take for ever.
constexpr Duration kGoneMax = seconds(30);
constexpr Duration kReleaseMax = seconds(20);  // for whoever is told that we are gone

}  // namespace

// A hint is worth a save, and no reason to leave.
void Attempt::look_at_hint() {
  std::optional<notice::Notice> hint = board_.hint();
  if (hint == hint_) return;
  const bool is_other =
      hint && (!hint_ || hint->source != hint_->source || hint->why != hint_->why);
  if (is_other) {
    hinted_ = true;
    tell(EventLevel::kWarning, "hint",
         fmt::format("this machine may end before long: {}; what comes next is saved at once",
                     hint->why),
         {{"source", hint->source}});
  }
  hint_ = std::move(hint);
}

void Attempt::look_at_place() {
  std::optional<job::PlaceFacts> place = board_.place();
  if (!place || record_.place == place) return;
  record_.place = std::move(place);
  reporter_.set_record(record_);
  tell(EventLevel::kNote, "place", fmt::format("this is {}", job::describe(*record_.place)));
}

void Attempt::look_at_notice() {
  std::optional<notice::Notice> current = board_.current();
  if (current != notice_) {
    if (current) {
      const std::string left =
          format_duration_short(std::max(current->ends - now_, Duration::zero()));
      tell(EventLevel::kWarning, "notice",
           current->at_once
               ? fmt::format("{}: leaving once what there is is saved, in {} at the latest",
                             current->why, left)
               : fmt::format("this machine ends in {}: {}", left, current->why),
           {{"source", current->source},
            {"seconds_left", std::chrono::duration<double>(current->ends - now_).count()}});
    } else {
      tell(EventLevel::kGood, "notice-withdrawn", "the notice was withdrawn: this machine stays");
    }
    notice_ = std::move(current);
    if (is_notice_told_) write_notice_file();
    reporter_.hurry();
  }
  const bool presses = notice_ && notice_->ends - now_ <= kPressing;
  // Not of an end that is hours away: trainers that look at the file leave when it is there.
  if (presses != is_notice_told_) {
    is_notice_told_ = presses;
    write_notice_file();
  }
  if (!presses && leaving_ && leaving_->outcome == AttemptOutcome::kLeft) {
    leaving_.reset();
    // Who was only asked to save goes on, and will be asked again; who was asked to leave leaves.
    if (!asked_by_term_) asked_to_leave_.reset();
  }
  if (!presses || turn_) return;
  // What came to rest since the last look is part of the plan.
  if (!leaving_ && phase_ == Phase::kRunning) watcher_->look_now();
  Leaving& leaving = leaving_ ? *leaving_ : leaving_.emplace(Leaving{.since = now_});
  leaving.ends = notice_->ends;
  leaving.at_once = notice_->at_once;
  leaving.reached_trainer = notice_->reached_trainer;
  leaving.why = notice_->why;
}

// Whoever takes the machine need not wait for us any longer. This has a time of its own: what is
// said to be the end may not be, and there is nothing left to lose.
void Attempt::release_machine() {
  const notice::Departure departure = {.is_all_safe = !saving_ && !has_unsaved()};
  const MonoTime until = saturating_add(parts_.world.clock.mono_now(), kReleaseMax);
  for (const Result<std::string>& done : notices_->release(departure, {.deadline = until})) {
    if (done && done->empty()) continue;
    parts_.front.happened({.time = parts_.world.clock.wall_now(),
                           .level = done ? EventLevel::kNote : EventLevel::kWarning,
                           .kind = done ? "released" : "release-failed",
                           .sentence = done ? *done : done.error().to_string()});
  }
}

void Attempt::write_notice_file() {
  const std::string path = parts_.work.notice_file();
  Result<void> written;
  if (snapshots_) {
    snapshots_->set_deadline(
        notice_ && is_notice_told_
            ? std::optional(parts_.world.clock.wall_now() + (notice_->ends - now_))
            : std::nullopt);
  }
  if (notice_ && is_notice_told_) {
    const Duration left = notice_->ends - now_;
    const Json json = {{"source", notice_->source},
                       {"why", notice_->why},
                       {"ends", format_rfc3339(parts_.world.clock.wall_now() + left)},
                       {"seconds_left", std::chrono::duration<double>(left).count()}};
    written =
        sys::write_file_atomically(parts_.world.files, path, as_bytes(canonical_json(json) + "\n"));
  } else {
    written = sys::remove_tree(parts_.world.files, path);
  }
  if (!written) {
    tell(EventLevel::kWarning, "notice-file",
         fmt::format("the trainer cannot be told of it: {}", written.error().to_string()));
  }
}

void Attempt::handle(NoticeChanged /*message*/) {}  // decide() looks

void Attempt::handle(const TurnNews& news) {
  // Also after the job was cancelled, when somebody has resumed it elsewhere before we were gone.
  const bool is_worse =
      turn_ && turn_->kind == TurnNews::Kind::kEnded && news.kind == TurnNews::Kind::kTakenOver;
  if ((turn_ && !is_worse) || phase_ == Phase::kEnding || phase_ == Phase::kOver) return;
  turn_ = news;
  if (news.kind == TurnNews::Kind::kTakenOver) {
    if (phase_ == Phase::kRunning && !killed_) stop_trainer();
    tell(EventLevel::kWarning, "taken-over",
         news.entry.writer.empty()
             ? "another attempt has taken the job over"
             : fmt::format("another attempt has taken the job over: {}", news.entry.writer));
    return;
  }
  const std::string why = fmt::format("the job was {} by {}: {}", job::to_string(news.entry.kind),
                                      news.entry.writer, news.entry.why);
  tell(EventLevel::kWarning, "cancelled", why);
  if (phase_ == Phase::kRunning) watcher_->look_now();
  leaving_ = Leaving{.since = now_,
                     .ends = saturating_add(now_, options_.spec.grace),
                     .at_once = true,
                     .outcome = AttemptOutcome::kCancelled,
                     .why = why};
}

// Whether nothing is worth starting any more: a notice that is far off is no reason not to train.
bool Attempt::is_too_late_to_start() const {
  if (turn_) return true;
  return leaving_ && (leaving_->at_once || leaving_->ends - now_ <= options_.spec.grace);
}

void Attempt::end_leaving() {
  if (turn_ && turn_->kind == TurnNews::Kind::kTakenOver) {
    end_attempt(AttemptOutcome::kTakenOver, "another attempt has taken the job over");
    return;
  }
  if (!leaving_) return;
  const bool is_saved = save_failures_ == 0 || !(saving_ || has_unsaved());
  if (!is_saved && leaving_->outcome == AttemptOutcome::kLeft) {
    return end_attempt(AttemptOutcome::kBroken,
                       fmt::format("{}; the last state is not saved: {}", leaving_->why, trouble_),
                       ErrorCode::kUnavailable);
  }
  end_attempt(leaving_->outcome, leaving_->why);
}

MonoTime Attempt::kill_time(const Leaving& leaving) const {
  const Duration whole = leaving.ends - leaving.since;
  const Duration reserve =
      std::min(whole / kReserveShares, commit_time_.value_or(kLastWords) + kLastWords);
  return leaving.ends - reserve;
}

void Attempt::stop_trainer() {
  killed_ = true;
  gone_by_ = leaving_ ? leaving_->ends : saturating_add(now_, kGoneMax);
  unread_.request_stop();
  trainer_->kill();
}

// When what lies on the disk must be sent if it is to be safe in time, although a fresh state was
// asked for: who was asked may never answer.
std::optional<MonoTime> Attempt::last_chance() const {
  if (!leaving_ || !asked_to_leave_ || !has_unsaved()) return std::nullopt;
  job::NoticeFacts facts = notice_facts();
  facts.time_left = leaving_->ends - now_;
  return saturating_add(now_, job::notice_margin(facts).value_or(Duration::zero()) - kLastWords);
}

// Whether the trainer's files were looked at since, and none is about to become a checkpoint: who
// is stopped a moment after a save must not lose it.
bool Attempt::is_at_rest(const Leaving& leaving) const {
  if (now_ >= saturating_add(leaving.since, kRestMax)) return true;
  return seen_ && looked_ >= leaving.since && !seen_->is_settling;
}

void Attempt::leave_when_due(Leaving& leaving) {
  if (killed_) return;
  const bool takes_snapshots = can_ask_for_snapshot();
  const bool can_leave = !asked_to_leave_ && (takes_snapshots || trainer_->can_ask(SIGTERM));
  const bool can_save = !asked_to_leave_ && !can_leave && trainer_->can_ask(SIGUSR1);
  job::NoticeFacts facts = notice_facts();
  facts.time_left = leaving.ends - now_;
  if (notice_) facts.confidence = notice_->confidence;
  facts.can_ask = can_leave || can_save;
  job::NoticePlan plan = job::plan_notice(facts);
  // Where nobody can be asked, each save changes what there is to hold and to keep: no news.
  const bool is_new = !leaving.plan || (facts.can_ask && leaving.plan->choice != plan.choice);
  if (!asked_to_leave_ && is_new) {
    tell(EventLevel::kNote, "plan", plan.why, {{"choice", job::to_string(plan.choice)}});
  }
  const bool is_fresh = plan.choice == job::NoticeChoice::kFreshSave;
  // By the plan before this one: its last safe second may be over by a hair, and the new plan says
  // that a fresh state fits no more.
  const bool is_time = leaving.plan && leaving.plan->ask_by && now_ >= *leaving.plan->ask_by;
  // Even where a fresh state will hardly fit, asking costs nothing that would be kept otherwise.
  const bool ask_now = leaving.at_once || is_time ||
                       plan.choice == job::NoticeChoice::kKeepCommitted ||
                       (is_fresh && now_ >= *plan.ask_by);
  if (facts.can_ask && ask_now) {
    const int signal_number = can_leave ? SIGTERM : SIGUSR1;
    if (takes_snapshots) ask_for_snapshot({.leave = true});
    const Result<bool> asked = takes_snapshots ? true : trainer_->ask(signal_number);
    if (asked && *asked) {
      asked_to_leave_ = now_;
      asked_to_save_ = now_;
      asked_at_ = parts_.world.clock.wall_now();
      saved_answer_ = false;
      asked_by_term_ = can_leave;
      if (takes_snapshots) {
        tell(EventLevel::kNote, "asked", "asked the trainer for a snapshot, and to leave",
             {{"for", "leave"}});
      } else {
        tell(
            EventLevel::kNote, "asked",
            can_leave ? "asked the trainer to save and leave (SIGTERM)"
                      : "asked the trainer to save (SIGUSR1)",
            {{"signal", can_leave ? "SIGTERM" : "SIGUSR1"}, {"for", can_leave ? "leave" : "save"}});
      }
    }
  }
  leaving.plan = std::move(plan);

  const std::optional<MonoTime> chance = last_chance();
  const bool is_worth_it = asked_to_leave_ ? is_answer() || (chance && now_ >= *chance) : !is_fresh;
  if (has_unsaved() && is_worth_it && !saving_ && now_ >= save_again_at_) save("notice");
  const bool is_safe = !has_unsaved() && !saving_;
  // Who only saves does not leave by itself; who does neither has nothing left to do here.
  const bool has_saved = asked_to_leave_ && saved_answer_ && is_safe;
  const bool stop_now = (has_saved && !asked_by_term_) ||
                        (leaving.at_once && !asked_to_leave_ && is_safe && is_at_rest(leaving)) ||
                        now_ >= kill_time(leaving);
  if (!stop_now) return;
  tell(EventLevel::kNote, "stopped", "the trainer was stopped");
  stop_trainer();
}

}  // namespace outlast::agent
