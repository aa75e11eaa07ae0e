#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/notice_board.h"
#include "notice/notice_source.h"
#include "notice/slurm_control.h"
#include "notice/slurm_job.h"
#include "notice/slurm_place.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/inbox.h"
#include "sys/own_signals.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::notice {

// The end of a Slurm job: its time limit, from the beginning; the grace of its preemption; and,
// after SIGTERM, what is left before SIGKILL (KillWait). scontrol is asked once a minute, because
// Slurm tells a batch process nothing of a preemption until its grace is over, and at once on
// SIGUSR1, which the job may have ordered (--signal=B:USR1@90) or the cluster sends.
//
// Where the job is to go on later, release() sees to it that it is queued again: by us where Slurm
// does not do it itself, never if somebody has cancelled it.
class SlurmSource : public NoticeSource {
 public:
  // Listens from now on. `grace` is believed to be left after SIGTERM where Slurm does not say.
  static Result<std::unique_ptr<SlurmSource>> make(sys::World& world, SlurmPlace place,
                                                   const Logger& log, Duration grace);

  std::string name() const override { return "slurm"; }
  void watch(NoticeBoard& board, const sys::CallContext& ctx) override;
  Result<std::string> release(const sys::CallContext& ctx) override;

 private:
  SlurmSource(std::unique_ptr<sys::SignalSubscription> signals, sys::World& world, SlurmPlace place,
              const Logger& log, Duration grace);

  void listen(NoticeBoard& board, sys::Inbox<int>& heard, const sys::CallContext& ctx);
  void look(NoticeBoard& board, const sys::CallContext& ctx);
  void take(const SlurmJob& job, NoticeBoard& board);
  void post(MonoTime ends, std::string why, NoticeBoard& board);
  void post_limit(WallTime ends, NoticeBoard& board);
  MonoTime as_mono(WallTime time);

  const std::unique_ptr<sys::SignalSubscription> signals_;
  sys::Clock& clock_;
  sys::Threads& threads_;
  SlurmControl control_;
  const SlurmPlace place_;
  const Logger log_;
  std::atomic<Duration> after_term_;  // what SIGTERM leaves
  // The rest belongs to watch().
  bool knows_after_term_ = false;  // from Slurm
  std::optional<Notice> said_;
  std::optional<MonoTime> ended_ends_;  // once the job's end has begun
  bool is_away_ = false;                // scontrol could not be asked, and that was said
};

}  // namespace outlast::notice
