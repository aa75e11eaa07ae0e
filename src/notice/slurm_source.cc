#include "notice/slurm_source.h"

#include <fmt/core.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/slurm_control.h"
#include "notice/slurm_job.h"
#include "notice/slurm_place.h"
#include "sys/call_context.h"
#include "sys/inbox.h"
#include "sys/own_signals.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

// A cluster has thousands of jobs and one controller.
constexpr Duration kAskEvery = std::chrono::minutes(1);
// Slurm counts in seconds: what differs by less is the same end.
constexpr Duration kSameEnd = std::chrono::seconds(2);
// A notice of its own: the two halves of this source need not know what the other one said.
constexpr const char* kTermNotice = "slurm-signal";
constexpr std::size_t kSignalsKept = 16;
constexpr Duration kPauseAfterFailure = std::chrono::seconds(1);  // to listen, or to ask
constexpr int kReleaseAttempts = 3;

}  // namespace

SlurmSource::SlurmSource(std::unique_ptr<sys::SignalSubscription> signals, sys::World& world,
                         SlurmPlace place, const Logger& log, Duration grace)
    : signals_(std::move(signals)),
      clock_(world.clock),
      threads_(world.threads),
      control_(world, place.job),
      place_(std::move(place)),
      log_(log),
      after_term_(grace) {}

Result<std::unique_ptr<SlurmSource>> SlurmSource::make(sys::World& world, SlurmPlace place,
                                                       const Logger& log, Duration grace) {
  OUTLAST_TRY_ASSIGN(std::unique_ptr<sys::SignalSubscription> signals,
                     world.own_signals.subscribe({SIGTERM, SIGUSR1}));
  return std::unique_ptr<SlurmSource>(
      new SlurmSource(std::move(signals), world, std::move(place), log, grace));
}

void SlurmSource::watch(NoticeBoard& board, const sys::CallContext& ctx) {
  board.set_place(place_.facts);
  if (place_.ends) post_limit(*place_.ends, board);
  // Signals are heard beside: a controller that is busy is waited for, and SIGTERM cannot wait.
  sys::Inbox<int> heard(threads_, kSignalsKept);
  const std::unique_ptr<sys::Thread> ears = threads_.spawn(
      "slurm-signals", [&](const std::stop_token& stop) { hear(board, heard, {.stop = stop}); });
  while (true) {
    look(board, ctx);
    const MonoTime again = saturating_add(clock_.mono_now(), kAskEvery);
    const Result<int> signal = heard.receive(ctx.until(again));
    if (!signal && signal.error().code() == ErrorCode::kCancelled) return;
  }
}

void SlurmSource::hear(NoticeBoard& board, sys::Inbox<int>& heard, const sys::CallContext& ctx) {
  std::optional<MonoTime> ends;
  while (true) {
    const Result<int> signal = signals_->next(ctx);
    if (!signal) {
      if (!clock_.sleep_for(kPauseAfterFailure, ctx)) return;  // stopped
      continue;
    }
    if (*signal == SIGTERM) {
      // Before anybody is asked: the trainer may have got it, too, and end of it any moment.
      const MonoTime now = clock_.mono_now();
      const MonoTime end = saturating_add(now, after_term_);
      // The next one does not prolong it; but what the first left may be long over, if that was the
      // beginning of a grace.
      if (!ends || *ends <= now || end < *ends) {
        ends = end;
        board.post({.source = kTermNotice,
                    .ends = end,
                    .reached_trainer = true,
                    .why = fmt::format("SIGTERM in Slurm job {}, which leaves {}", place_.job,
                                       format_duration_short(after_term_))});
      }
    }
    (void)heard.try_post(*signal);  // if there is no room, it is going to be asked anyway
  }
}

void SlurmSource::look(NoticeBoard& board, const sys::CallContext& ctx) {
  const Result<SlurmJob> job = control_.show_job(ctx);
  if (!job) {
    // What was said before still holds.
    if (!is_away_ && job.error().code() != ErrorCode::kCancelled) {
      is_away_ = true;
      log_.warning("notice.slurm_silent", {{"job", place_.job}, {"error", job.error()}});
    }
    return;
  }
  is_away_ = false;
  if (!knows_after_term_) {
    const SlurmConfig config = control_.show_config(ctx).value_or(SlurmConfig());
    knows_after_term_ = config.kill_wait.has_value();
    after_term_ = config.kill_wait.value_or(after_term_.load());
  }
  take(*job, board);
}

void SlurmSource::take(const SlurmJob& job, NoticeBoard& board) {
  if (has_ended(job)) {
    // SIGTERM is on its way, if it has not come yet.
    if (!ended_ends_) ended_ends_ = saturating_add(clock_.mono_now(), after_term_);
    post({.ends = *ended_ends_,
          .reached_trainer = true,
          .why = fmt::format("Slurm ends job {} ({})", place_.job, job.state)},
         board);
  } else if (job.preempted && job.ends) {
    post({.ends = as_mono(*job.ends),
          .reached_trainer = true,
          .why = fmt::format("Slurm preempts job {}", place_.job)},
         board);
    // To a step it was sent when the grace began, and leaves all of that.
    board.withdraw(kTermNotice);
  } else if (job.ends) {
    post_limit(*job.ends, board);
  } else if (said_) {
    said_.reset();
    board.withdraw(name());
  }
}

void SlurmSource::post_limit(WallTime ends, NoticeBoard& board) {
  post({.ends = as_mono(ends), .why = fmt::format("the time limit of Slurm job {}", place_.job)},
       board);
}

void SlurmSource::post(Notice notice, NoticeBoard& board) {
  const bool is_same = said_ && said_->why == notice.why && notice.ends - said_->ends < kSameEnd &&
                       said_->ends - notice.ends < kSameEnd;
  if (is_same) return;
  notice.source = name();
  said_ = std::move(notice);
  board.post(*said_);
}

MonoTime SlurmSource::as_mono(WallTime time) {
  return saturating_add(clock_.mono_now(), time - clock_.wall_now());
}

// Also if not all is safe: an older checkpoint is better than a job that never goes on. A
// controller that is busy is asked again.
Result<std::string> SlurmSource::release(const Departure& /*departure*/,
                                         const sys::CallContext& ctx) {
  for (int attempt = 1;; ++attempt) {
    Result<std::string> done = queue_again(ctx).while_doing(
        fmt::format("see to it that Slurm queues job {} again", place_.job));
    if (done || attempt == kReleaseAttempts) return done;
    if (!clock_.sleep_for(kPauseAfterFailure, ctx)) return done;
  }
}

Result<std::string> SlurmSource::queue_again(const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const SlurmJob job, control_.show_job(ctx));
  SlurmConfig config = control_.show_config(ctx).value_or(SlurmConfig());
  if (job.preempted) {
    config.preempt_mode = control_.show_preempt_mode(job.partition, ctx).value_or("");
  }
  OUTLAST_TRY_ASSIGN(const SlurmRelease release, plan_slurm_release(job, config, place_.restarts));
  if (!release.requeue) return release.why;
  OUTLAST_TRY(control_.requeue(ctx));
  return fmt::format("Slurm job {} is queued again", place_.job);
}

}  // namespace outlast::notice
