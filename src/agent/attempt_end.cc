#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>

#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/uploader.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "job/log_entry.h"
#include "job/retry_budget.h"
#include "job/trainer_end.h"

namespace outlast::agent {
namespace {

using std::chrono::seconds;

constexpr Duration kEndWait = seconds(10);      // after a last entry that could not be written
constexpr Duration kFarewellMax = seconds(60);  // for the last words, where nobody waits for us
constexpr Duration kFarewellMin = seconds(2);   // and where somebody does
constexpr Duration kShortLife = seconds(5);
constexpr Duration kSameMoment = seconds(1);

job::AttemptEnd::Kind kind_of(job::EndMeaning meaning) {
  return meaning == job::EndMeaning::kLeft ? job::AttemptEnd::Kind::kLeft
                                           : job::AttemptEnd::Kind::kFailed;
}

}  // namespace

void Attempt::handle(TrainerEnded message) {
  if (message.life != life_ || phase_ != Phase::kRunning) return;
  if (!message.exit) {
    tell(EventLevel::kWarning, "wait-failed", message.exit.error().to_string());
    trainer_->kill();  // whatever it is: it must not write while we look
  }
  exit_ = message.exit ? *message.exit : job::TrainerExit{.value = 1};
  exited_ = now_;
  const bool ended_well =
      !exit_.by_signal && (exit_.value == 0 || exit_.value == options_.spec.exit_codes.left);
  phase_ = Phase::kLooking;
  ended_well_ = ended_well;
  watcher_->look_last(ended_well);
}

void Attempt::settle() {
  const bool is_too_late =
      (leaving_ && now_ >= leaving_->ends) ||
      // Nobody waits half a minute at the keyboard for what fails again and again.
      (leaving_ && leaving_->at_once && save_failures_ > 1) ||
      (turn_ && turn_->kind == TurnNews::Kind::kTakenOver);
  if (!is_too_late) {
    // What it said last may still be on its way to us.
    if (snapshots_ && snapshots_->has_guests() && now_ - exited_ < kLastWordsMax) return;
    if (goes_on_from_memory()) {
      is_from_memory_ = true;
      return judge();
    }
    if (saving_) return;
    if (has_unsaved()) {
      if (now_ >= save_again_at_) save(leaving_ ? "notice" : "end");
      return;
    }
  }
  judge();
}

// Whether somebody wanted it gone when it ended. A notice that comes later does not undo its work;
// but one that comes in the same moment may have reached the trainer before us. An end that is far
// off has told the trainer nothing, unless whoever says so tells everybody.
bool Attempt::is_told_at_end() const {
  if (asked_to_leave_ || killed_) return true;
  if (!leaving_ || leaving_->since - exited_ >= kSameMoment) return false;
  return leaving_->at_once || leaving_->reached_trainer ||
         leaving_->ends - exited_ <= options_.spec.grace;
}

job::TrainerEnd Attempt::trainer_end() const {
  if (snapshots_ && snapshots_->words().is_done) {
    return {.meaning = job::EndMeaning::kDone,
            .why = fmt::format("the trainer has said that the job is done, and ended with {}",
                               job::describe(exit_))};
  }
  return options_.judge(exit_, is_told_at_end(), options_.spec.exit_codes);
}

job::AttemptEnd Attempt::life_end(job::EndMeaning meaning) const {
  job::AttemptEnd end{.kind = kind_of(meaning),
                      .death = job::describe(exit_),
                      .step = progress().step,
                      .checkpoint = committed_ ? committed_->seq : 0,
                      .checkpoint_step = committed_ ? committed_->step : std::nullopt};
  // As good as a checkpoint, while this machine lasts.
  if (snapshot_) end.checkpoint_step = snapshot_->step;
  return end;
}

std::string Attempt::why_unsaved() const {
  if (!seen_) return "";
  if (!seen_->is_whole) return "its files could not be listed";
  const std::optional<Held> held = this->held();
  if (held && not_to_save_ == held->fingerprint) return "it changed all the time";
  return "";
}

void Attempt::judge() {
  const job::TrainerEnd end = trainer_end();
  // Who finds its last checkpoint has nothing left to do, and is soon done with that.
  const bool is_short =
      now_ - life_began_ < kShortLife && !(seen_ && seen_->new_set) && !snapshot_ && !committed_;
  std::string sentence = end.why;
  if (!asked_to_leave_ && killed_) sentence = "the trainer has ended: it was stopped";
  if (!asked_to_leave_ && !killed_ && leaving_ && end.meaning == job::EndMeaning::kLeft) {
    sentence =
        fmt::format("the trainer has ended, with {}, after the notice", job::describe(exit_));
  }
  tell(end.meaning == job::EndMeaning::kDone ? EventLevel::kGood : EventLevel::kNote,
       "trainer-ended", std::move(sentence),
       {{"exit", job::describe(exit_)}, {"meaning", job::to_string(end.meaning)}});
  watcher_.reset();
  trainer_.reset();
  if (turn_ && turn_->kind == TurnNews::Kind::kTakenOver) {
    return end_attempt(AttemptOutcome::kTakenOver, "another attempt has taken the job over");
  }
  if (end.meaning == job::EndMeaning::kDone) {
    // The machine ends before its last state is safe: the next attempt has to get there again.
    if (leaving_ && (saving_ || has_unsaved())) return end_leaving();
    if (const std::string why = why_unsaved(); !why.empty()) {
      return end_attempt(
          AttemptOutcome::kBroken,
          fmt::format("the trainer has finished, but its last state is not saved: {}", why));
    }
    if (seen_ && !seen_->state.is_ready && !seen_->state.paths.empty()) {
      is_unsaved_ = true;
      tell(EventLevel::kWarning, "unsaved",
           fmt::format("the trainer's last state is on this machine alone: {}",
                       seen_->state.why_not));
    }
    if (is_short) {
      tell(EventLevel::kWarning, "short",
           fmt::format("the trainer ended after {} with exit code 0 and without a checkpoint: is "
                       "that all there was to do?",
                       format_duration_short(now_ - life_began_)));
    } else if (!committed_) {
      tell(EventLevel::kWarning, "nothing-saved",
           fmt::format("nothing was saved: no checkpoint was recognised in {}. If the trainer's "
                       "files have other names, give their folder: --checkpoint DIR",
                       parts_.work.path()));
    }
    return end_job(job::EntryKind::kDone, end.why);
  }
  record_.ends.push_back(life_end(end.meaning));
  if (record_.ends.size() > kEndsMax) {
    record_.ends.erase(record_.ends.begin(),
                       record_.ends.end() - static_cast<std::ptrdiff_t>(kEndsMax));
  }
  reporter_.set_record(record_);
  if (leaving_) return end_leaving();
  if (end.meaning == job::EndMeaning::kNeverAgain) {
    return end_job(job::EntryKind::kFailed, end.why);
  }
  const job::RetryDecision decision = job::decide_retry(record_.ends, options_.spec.retries);
  if (!decision.again) return end_job(job::EntryKind::kFailed, decision.why);
  tell(EventLevel::kWarning, "retry", decision.why,
       {{"failures", decision.failures},
        {"wait_seconds", std::chrono::duration<double>(decision.wait).count()}});
  phase_ = Phase::kPausing;
  restart_at_ = saturating_add(now_, decision.wait);
}

void Attempt::end_job(job::EntryKind kind, const std::string& why) {
  last_entry_ = {.kind = kind, .why = why};
  if (kind == job::EntryKind::kDone) last_entry_.before = options_.before_done;
  end_again_at_ = now_;
  phase_ = Phase::kEnding;
}

void Attempt::handle(const EndReport& report) {
  ending_in_flight_ = false;
  if (phase_ != Phase::kEnding) return;
  if (report.seq) {
    return end_attempt(
        last_entry_.kind == job::EntryKind::kDone ? AttemptOutcome::kDone : AttemptOutcome::kFailed,
        last_entry_.why);
  }
  if (report.seq.error().code() == ErrorCode::kPreempted) {
    return end_attempt(AttemptOutcome::kTakenOver, report.seq.error().to_string());
  }
  if (!may_come_back(report.seq.error()) && ++final_failures_ >= kFinalTriesMax) {
    return end_attempt(AttemptOutcome::kBroken,
                       "the job's end cannot be written: " + report.seq.error().to_string(),
                       report.seq.error().code());
  }
  const std::string trouble =
      fmt::format("the job's end cannot be written: {}", report.seq.error().to_string());
  if (trouble_ != trouble)
    tell(EventLevel::kWarning, "end-failed", trouble + "; it is tried again");
  trouble_ = trouble;
  end_again_at_ = saturating_add(now_, kEndWait);
}

void Attempt::end_attempt(AttemptOutcome outcome, const std::string& why,
                          std::optional<ErrorCode> broken_by) {
  ending_ = AttemptEnding{.outcome = outcome,
                          .why = why,
                          .interrupted = notice_ && notice_->at_once,
                          .is_unsaved = is_unsaved_,
                          .broken_by = broken_by};
  phase_ = Phase::kOver;
  const EventLevel level = outcome == AttemptOutcome::kDone     ? EventLevel::kGood
                           : outcome == AttemptOutcome::kFailed ? EventLevel::kBad
                                                                : EventLevel::kWarning;
  std::string sentence = why;
  if (outcome == AttemptOutcome::kDone) {
    sentence = committed_ ? fmt::format(
                                "the job is done; its last checkpoint is {}{}", committed_->seq,
                                committed_->step ? fmt::format(", step {}", *committed_->step) : "")
                          : "the job is done, without a checkpoint";
  }
  tell(level, std::string(to_string(outcome)), std::move(sentence));
}

// Everything that people want to know later is in the root before we go.
void Attempt::finish(const AttemptEnding& ending) {
  inbox_.close();  // nobody waits for us to hear more
  // Because the machine ends, not because somebody at the keyboard wants it.
  const bool is_machines_end =
      leaving_ && leaving_->outcome == AttemptOutcome::kLeft && !ending.interrupted &&
      (ending.outcome == AttemptOutcome::kLeft || ending.outcome == AttemptOutcome::kBroken);
  if (!is_machines_end) notices_.reset();  // from here on a Ctrl-C is the end
  watcher_.reset();
  trainer_.reset();
  record_.ended = {
      .time = parts_.world.clock.wall_now(), .outcome = ending.outcome, .why = ending.why};
  reporter_.set_record(record_);
  // A beat of ours would hide that of whoever has the job now.
  reporter_.set_beat(ending.outcome == AttemptOutcome::kTakenOver ? std::nullopt
                                                                  : std::optional(beat()));
  const MonoTime until = leaving_ ? std::max(leaving_->ends, saturating_add(now_, kFarewellMin))
                                  : saturating_add(now_, kFarewellMax);
  const Result<void> written = reporter_.finish({.deadline = until});
  if (!written) {
    parts_.front.happened({.time = parts_.world.clock.wall_now(),
                           .level = EventLevel::kWarning,
                           .kind = "farewell-failed",
                           .sentence = fmt::format("the last words did not reach the root: {}",
                                                   written.error().to_string())});
  }
  // Last of all: whoever is told may end us at once.
  if (is_machines_end) release_machine();
  notices_.reset();
}

}  // namespace outlast::agent
