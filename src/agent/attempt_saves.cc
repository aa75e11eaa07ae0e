#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/arena.h"
#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/uploader.h"
#include "agent/work_folder.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/writer.h"
#include "job/notice_plan.h"
#include "job/progress_reader.h"
#include "job/save_schedule.h"
#include "sys/file_system.h"
#include "trainer_files/checkpoint_finder.h"
#include "trainer_files/resume_judgement.h"
#include "trainer_files/tree_listing.h"

namespace outlast::agent {
namespace {

using std::chrono::seconds;

constexpr Duration kSaveWaitMin = seconds(2);  // after a failure; it doubles
constexpr Duration kSaveWaitMax = seconds(60);
// Below this, how fast the store is cannot be told from how long a request takes.
constexpr std::uint64_t kMeasurableBytes = 1U << 20U;
// A trainer whose files are never whole and at rest would otherwise never be saved in silence.
constexpr Duration kRestlessMax = std::chrono::minutes(10);
// Of the last look at what a trainer left, while somebody else still touches it.
constexpr int kLastLooksMax = 5;
// Without a checkpoint for so long, a person is told.
constexpr Duration kUnfoundMax = seconds(60);
// The most lines about what was left out; who has so many does not read them.
constexpr std::size_t kToldLinesMax = 20;
// Files are stamped with a clock that only moves so often.
constexpr Duration kFileClockGrain = std::chrono::milliseconds(10);
// A trainer that was asked to save and has not by then is asked again.
constexpr Duration kAskAgain = std::chrono::minutes(10);

std::uint64_t bytes_of(const trainer_files::CommitState& state) {
  std::uint64_t bytes = 0;
  for (const trainer_files::ListedEntry& entry : state.entries) {
    if (entry.type == sys::FileType::kFile) bytes += entry.size;
  }
  return bytes;
}

// When the newest of its files was written.
std::optional<WallTime> written_at(const trainer_files::CommitState& state) {
  std::optional<WallTime> newest;
  for (const trainer_files::ListedEntry& entry : state.entries) {
    if (entry.type == sys::FileType::kFile && (!newest || entry.changed > *newest)) {
      newest = entry.changed;
    }
  }
  return newest;
}

}  // namespace

std::optional<Attempt::Held> Attempt::held() const {
  const bool has_files = seen_ && seen_->state.is_ready;
  if (!has_files && !snapshot_) return std::nullopt;
  Held held{.has_files = has_files};
  if (has_files) {
    held.fingerprint = seen_->state.fingerprint;
    held.bytes = bytes_of(seen_->state);
    held.step = seen_->state.step;
    held.written = written_at(seen_->state);
  }
  if (snapshot_) {
    // Files that are being written belong to it, unless nobody can wait for them.
    const bool is_writing =
        !has_files && has_own_files_ && !(seen_ && seen_->state.paths.empty()) && !restless_told_;
    if (is_writing && phase_ == Phase::kRunning && !leaving_) return std::nullopt;
    held.fingerprint = with_snapshot(held.fingerprint, *snapshot_);
    held.bytes += snapshot_->bytes();
    held.step = snapshot_->step;
    held.written = snapshot_taken_;
  }
  return held;
}

bool Attempt::has_unsaved() const {
  const std::optional<Held> held = this->held();
  return held && saved_ != held->fingerprint && not_to_save_ != held->fingerprint;
}

std::uint64_t Attempt::unsaved_bytes() const {
  const std::optional<Held> held = this->held();
  if (!held || !has_unsaved()) return 0;
  return static_cast<std::uint64_t>(new_share_ * static_cast<double>(held->bytes));
}

job::SaveFacts Attempt::save_facts() const {
  const job::Progress progress = this->progress();
  job::SaveFacts facts = {.now = now_, .last_save = last_save_};
  if (saved_in_attempt_) facts.save_cost = ask_cost_.value_or(Duration::zero());
  if (facts.save_cost && snapshot_) {
    // It goes on as soon as all is copied.
    facts.save_cost = snapshots_->words().stall.value_or(Duration::zero());
  }
  facts.upload_time = upload_time_;
  facts.mean_time_to_failure = hazard_.mean_time_to_failure(now_ - began_);
  facts.step = progress.step;
  // Who prints no steps may count them in the names of its files.
  if (!facts.step && seen_) facts.step = seen_->state.step;
  // One that counts by steps is due when there is a snapshot of that step, not before. Who has come
  // and done none yet is to hear of the first before it gets there.
  if (snapshot_) {
    facts.step = snapshot_->step;
  } else if (!facts.step && snapshots_ && snapshots_->is_used()) {
    facts.step = 0;
  }
  facts.steps_total = progress.total;
  if (committed_) facts.last_save_step = committed_->step;
  if (progress.epoch && *progress.epoch >= 0) {
    facts.epoch = static_cast<std::uint64_t>(std::floor(*progress.epoch));
  }
  facts.last_save_epoch = last_save_epoch_;
  return facts;
}

job::NoticeFacts Attempt::notice_facts() const {
  job::NoticeFacts facts = {.now = now_};
  facts.time_left = options_.spec.grace;
  facts.bandwidth = bandwidth_;
  facts.commit_time = commit_time_;
  facts.save_time = ask_cost_;
  if (committed_) facts.state_bytes = committed_->bytes;
  if (snapshot_) facts.state_bytes = snapshot_->bytes();
  facts.new_share = new_share_;
  if (has_unsaved()) facts.held_bytes = unsaved_bytes();
  return facts;
}

void Attempt::save_if_due() {
  if (turn_ || saving_ || now_ < save_again_at_) return;
  const job::SaveDue due = job::next_save(options_.spec.checkpoint.every, save_facts());
  const bool is_due = due.kind == job::SaveDue::Kind::kNow || hinted_;
  if (due.kind == job::SaveDue::Kind::kAtStep && due.count != step_asked_ && !asked_to_save_ &&
      can_ask_for_snapshot()) {
    step_asked_ = due.count;
    ask_for_snapshot({.from_step = due.count});
  }
  if (!has_unsaved()) {
    // Whose files changed under our hands is saving at this moment. Of several ranks one may have
    // overwritten its snapshot by itself: all have to be asked for another.
    const std::optional<Held> held = this->held();
    const bool is_moving = held && !snapshot_ && not_to_save_ == held->fingerprint;
    if (is_due && !is_moving) ask_to_save();
    return;
  }
  const std::optional<Duration> margin = job::notice_margin(notice_facts());
  if (!saved_in_attempt_) {
    save("first");
  } else if (is_due) {
    save(hinted_ ? "hint" : "interval");
  } else if (margin && *margin < Duration::zero()) {
    save("margin");
  }
}

// Only of those who listen: everybody else saves in his own time.
void Attempt::ask_to_save() {
  if (asked_to_save_ && now_ - *asked_to_save_ < kAskAgain) return;
  if (can_ask_for_snapshot()) {
    asked_to_save_ = now_;
    step_asked_ = 0;  // which this one replaces
    return ask_for_snapshot({});
  }
  const Result<bool> asked = trainer_->ask(SIGUSR1);
  if (!asked || !*asked) return;
  asked_to_save_ = now_;
  asked_at_ = parts_.world.clock.wall_now();
  tell(EventLevel::kNote, "asked", "asked the trainer to save (SIGUSR1)",
       {{"signal", "SIGUSR1"}, {"for", "save"}});
}

bool Attempt::is_answer() const {
  if (snapshot_asked_ != 0) return snapshot_ && snapshot_->answers() >= snapshot_asked_;
  return seen_ &&
         std::ranges::any_of(seen_->state.entries, [&](const trainer_files::ListedEntry& entry) {
           return entry.type == sys::FileType::kFile &&
                  entry.changed + kFileClockGrain >= asked_at_;
         });
}

void Attempt::save(const std::string& why) {
  const std::optional<Held> held = this->held();
  if (!held) return;
  SaveOrder order{
      .fingerprint = held->fingerprint, .snapshot = snapshot_, .why = why, .step = held->step};
  if (seen_ && held->has_files) order.state = seen_->state;
  order.metrics = progress().metrics;
  std::erase_if(order.metrics, [](const auto& metric) { return !std::isfinite(metric.second); });
  if (order.state.epoch) order.metrics["epoch"] = static_cast<double>(*order.state.epoch);
  order.stands_back = phase_ == Phase::kRunning && !leaving_;
  saving_ = held->fingerprint;
  saving_snapshot_.reset();
  if (snapshot_) saving_snapshot_ = snapshot_->fingerprint();
  saving_answer_ = asked_to_leave_ && is_answer();
  saving_why_ = why;
  saving_written_ = held->written;
  saving_hinted_ = std::exchange(hinted_, false);
  uploader_.save(std::move(order));
}

void Attempt::handle(const SaveReport& report) {
  if (saving_ != report.fingerprint) return;
  saving_.reset();
  if (report.moved_on || report.failure) hinted_ = hinted_ || saving_hinted_;
  if (report.moved_on) {
    not_to_save_ = report.fingerprint;
    if (phase_ == Phase::kRunning) watcher_->look_now();
    if (phase_ == Phase::kSettling && watcher_ && ++last_looks_ < kLastLooksMax) {
      phase_ = Phase::kLooking;
      watcher_->look_last(ended_well_);
    }
    return;
  }
  if (report.failure) {
    if (report.failure->code() == ErrorCode::kCancelled) return;
    if (report.failure->code() == ErrorCode::kPreempted) return handle(TurnNews{});
    if (phase_ != Phase::kRunning && !may_come_back(*report.failure) &&
        ++final_failures_ >= kFinalTriesMax) {
      return end_attempt(AttemptOutcome::kBroken,
                         "the last state cannot be saved: " + report.failure->to_string(),
                         report.failure->code());
    }
    const bool is_first = save_failures_++ == 0;
    const Duration wait = std::min<Duration>(
        kSaveWaitMin * (1 << std::min<std::uint64_t>(save_failures_, 5)), kSaveWaitMax);
    save_again_at_ = saturating_add(now_, wait);
    trouble_ = fmt::format("checkpoints cannot be saved: {}", report.failure->to_string());
    const bool has_ended = phase_ != Phase::kRunning;
    if (is_first || (has_ended && !settle_told_)) {
      settle_told_ = has_ended;
      tell(EventLevel::kWarning, "save-failed",
           fmt::format("{}; {}", trouble_,
                       has_ended ? "the trainer has ended, and its last state is tried again"
                                 : "training goes on, and it is tried again"));
    }
    return;
  }
  const checkpoint::SaveProgress& totals = report.saved.totals;
  saved_ = report.fingerprint;
  saved_snapshot_ = saving_snapshot_;
  saved_answer_ = saving_answer_;
  saved_in_attempt_ = true;
  last_save_ = now_;
  committed_ = {.seq = report.saved.seq,
                .step = report.step,
                .time = parts_.world.clock.wall_now(),
                .bytes = totals.bytes};
  last_save_epoch_ = save_facts().epoch;
  const Duration took = report.upload_time + report.commit_time;
  upload_time_ = took;
  commit_time_ = report.commit_time;
  new_share_ = totals.bytes == 0 ? 1
                                 : std::min(1.0, static_cast<double>(totals.bytes_stored) /
                                                     static_cast<double>(totals.bytes));
  if (totals.bytes_stored >= kMeasurableBytes && report.upload_time > Duration::zero()) {
    bandwidth_ = static_cast<double>(totals.bytes_stored) /
                 std::chrono::duration<double>(report.upload_time).count();
  }
  if (has_unsaved()) {
    unsaved_since_ = snapshot_ ? now_ : seen_at_;
  } else {
    unsaved_since_.reset();
  }
  if (std::exchange(save_failures_, 0) > 0) {
    tell(EventLevel::kGood, "caught-up", "checkpoints can be saved again");
  }
  trouble_.clear();
  // The buffers of a save are many times what we need until the next one.
  parts_.world.environment.give_back_memory();
  Json facts = {{"checkpoint", report.saved.seq},
                {"bytes", totals.bytes},
                {"stored_bytes", totals.bytes_stored},
                {"seconds", std::chrono::duration<double>(took).count()},
                {"why", saving_why_}};
  if (saving_written_) facts["written"] = format_rfc3339(*saving_written_);
  if (report.step) facts["step"] = *report.step;
  tell(EventLevel::kGood, "saved",
       fmt::format("checkpoint {}{}: {}, {} new, {}", report.saved.seq,
                   report.step ? fmt::format(", step {}", *report.step) : "",
                   format_bytes_short(totals.bytes), format_bytes_short(totals.bytes_stored),
                   format_duration_short(took)),
       std::move(facts));
}

void Attempt::handle(Seen message) {
  if (message.life != life_) return;
  const bool is_last = message.seen.is_last;
  // Of who has ended only the last look counts: that a file is at rest then proves nothing.
  if (!is_last && phase_ != Phase::kRunning) return;
  const bool is_news = !seen_ || seen_->state.fingerprint != message.seen.state.fingerprint;
  seen_ = std::move(message.seen);
  looked_ = now_;
  if (is_news) seen_at_ = now_;
  // Also while none of them is whole: who writes its only file anew has files.
  has_own_files_ = has_own_files_ || seen_->new_set || !seen_->state.paths.empty();
  tell_findings();
  if (seen_->new_set && !std::exchange(resume_judged_, true)) {
    const trainer_files::ResumeJudgement judgement = trainer_files::judge_resume(
        restored_progress_, seen_->new_set->progress, seen_->new_set->layout);
    if (judgement.verdict == trainer_files::ResumeVerdict::kStartedOver) {
      tell(EventLevel::kWarning, "started-over", judgement.sentence);
    }
  }
  if (has_unsaved()) {
    if (!unsaved_since_) unsaved_since_ = now_;
    if (asked_to_save_ && is_answer()) {
      ask_cost_ = now_ - *asked_to_save_;
      asked_to_save_.reset();
    }
  }
  if (seen_->state.is_ready || seen_->state.paths.empty()) {
    restless_since_.reset();
  } else if (!restless_since_) {
    restless_since_ = now_;
  } else if (now_ - *restless_since_ >= kRestlessMax && !std::exchange(restless_told_, true)) {
    tell(EventLevel::kWarning, "restless",
         fmt::format("nothing could be saved for {}, because {}",
                     format_duration_short(now_ - *restless_since_), seen_->state.why_not));
  }
  if (is_last && phase_ == Phase::kLooking) phase_ = Phase::kSettling;
}

// What was found, once; and each thing that was left out, once.
void Attempt::tell_findings() {
  if (!seen_ || !seen_->new_set) return;
  for (const std::string& line : seen_->report) {
    const bool is_finding = line.starts_with("found checkpoints");
    if (is_finding ? std::exchange(found_told_, true) : !line.starts_with("left out")) continue;
    if (line.find(WorkFolder::kLifeLog) != std::string::npos) continue;
    if (told_lines_.size() < kToldLinesMax && told_lines_.insert(line).second) {
      tell(EventLevel::kNote, is_finding ? "found" : "left-out", line);
    }
  }
}

void Attempt::tell_if_unfound() {
  if (snapshots_ && snapshots_->is_used()) return tell_if_without_snapshot();
  if (committed_ || (seen_ && seen_->new_set) || now_ - life_began_ < kUnfoundMax) return;
  if (std::exchange(unfound_told_, true)) return;
  tell(EventLevel::kNote, "nothing-yet",
       fmt::format("no checkpoint was recognised in {} yet: until then nothing is safe. If the "
                   "trainer's files have other names, give their folder: --checkpoint DIR",
                   parts_.work.path()));
}

}  // namespace outlast::agent
