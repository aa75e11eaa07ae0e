#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>

#include "agent/attempt.h"
#include "agent/beat.h"
#include "agent/event.h"
#include "agent/snapshot_host.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/time.h"
#include "base/units.h"
#include "job/notice_plan.h"
#include "job/progress_reader.h"
#include "job/save_schedule.h"

namespace outlast::agent {

void Attempt::tell(EventLevel level, std::string kind, std::string sentence, Json facts) {
  const Event event{.time = parts_.world.clock.wall_now(),
                    .level = level,
                    .kind = std::move(kind),
                    .sentence = std::move(sentence),
                    .facts = std::move(facts)};
  reporter_.happened(event);
  parts_.front.happened(event);
}

job::Progress Attempt::progress() const {
  job::Progress progress;
  {
    const MutexLock lock(progress_mutex_);
    progress = progress_.latest();
  }
  if (!snapshots_) return progress;
  // What it says to us counts more than what it says to people.
  TrainerWords words = snapshots_->words();
  if (words.step) progress.step = words.step;
  if (words.total) progress.total = words.total;
  if (words.epoch) progress.epoch = words.epoch;
  for (auto& [name, value] : words.metrics) progress.metrics[name] = value;
  return progress;
}

Beat Attempt::beat() const {
  Beat beat{.epoch = epoch_, .agent = options_.agent, .time = parts_.world.clock.wall_now()};
  switch (phase_) {
    case Phase::kRunning:
    case Phase::kLooking:
    case Phase::kSettling:
    case Phase::kEnding:
      beat.state = leaving_ ? AgentState::kLeaving : AgentState::kTraining;
      if (!leaving_ && phase_ != Phase::kRunning && !trouble_.empty()) {
        beat.state = AgentState::kWaiting;  // for the root
      }
      break;
    case Phase::kPausing:
      beat.state = life_ == 0 ? AgentState::kStarting : AgentState::kWaiting;
      break;
    case Phase::kRestoring:
      beat.state = AgentState::kRestoring;
      break;
    case Phase::kOver:
      beat.state = AgentState::kEnded;
      if (ending_) beat.outcome = ending_->outcome;
      break;
  }
  beat.progress = progress();
  beat.committed = committed_;
  if (unsaved_since_) beat.lag = now_ - *unsaved_since_;
  if (phase_ == Phase::kRunning && !leaving_) {
    beat.next_save = job::next_save(options_.spec.checkpoint.every, save_facts()).why;
  }
  beat.margin = job::notice_margin(notice_facts());
  if (notice_) {
    beat.notice = {.source = notice_->source,
                   .ends = parts_.world.clock.wall_now() + (notice_->ends - now_),
                   .why = notice_->why};
  }
  beat.trouble = trouble_;
  if (beat.trouble.empty()) {
    if (const std::optional<MonoTime> since = reporter_.away_since()) {
      beat.trouble = "the root has not answered for " + format_duration_short(now_ - *since);
    }
  }
  return beat;
}

void Attempt::publish() {
  Beat now = beat();
  parts_.front.stands(now);
  const bool is_taken_over = turn_ && turn_->kind == TurnNews::Kind::kTakenOver;
  reporter_.set_beat(is_taken_over ? std::nullopt : std::optional(std::move(now)));
}

}  // namespace outlast::agent
