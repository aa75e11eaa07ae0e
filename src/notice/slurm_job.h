#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

// What Slurm's own tool says of a job, and what follows from it. Pure.
namespace outlast::notice {

// As 'scontrol show job -o' prints it, with times in seconds since 1970 (SLURM_TIME_FORMAT=%s) or,
// where that is not known, as "2026-11-17T14:31:38" in UTC.
struct SlurmJob {
  std::string state = {};   // "RUNNING", "COMPLETING", "PENDING", "CANCELLED", …
  std::string reason = {};  // for it: "TimeLimit", "None", …
  std::string partition = {};
  std::uint64_t restarts = 0;
  bool is_batch = true;     // only those can be queued again
  bool may_requeue = true;  // not with --no-requeue
  // When its time limit is over or, once it is preempted, its grace; none: it has no limit.
  std::optional<WallTime> ends = {};
  std::optional<WallTime> preempted = {};  // since when it is to make room

  friend bool operator==(const SlurmJob&, const SlurmJob&) = default;
};
// kInvalidArgument if that is no job, or has a time that is none.
Result<SlurmJob> parse_slurm_job(std::string_view text);

// Whether its end has at least begun: cancelled, out of time, preempted, queued again.
bool has_ended(const SlurmJob& job);

// Of the whole cluster, as 'scontrol show config' prints it. What it does not say is nothing.
struct SlurmConfig {
  std::optional<Duration> kill_wait = {};  // from SIGTERM to SIGKILL
  // Year and month of the release: 2411 is 24.11.
  std::optional<std::uint64_t> release = {};
  // Of the job's partition, by 'scontrol show partition -o': "REQUEUE", "CANCEL", …
  std::string preempt_mode = {};

  friend bool operator==(const SlurmConfig&, const SlurmConfig&) = default;
};
SlurmConfig parse_slurm_config(std::string_view text);
std::string parse_preempt_mode(std::string_view text);

// What is left to do for a job that makes room and is to go on later.
struct SlurmRelease {
  bool requeue = false;  // by us, now
  std::string why = {};  // otherwise: what happens to it, in one sentence; "" if nothing is to
  friend bool operator==(const SlurmRelease&, const SlurmRelease&) = default;
};
// `restarts` is how often the job had been started again when this life of it began. A job that
// somebody has cancelled is never queued again. kFailed, with what to do, for one that cannot be.
Result<SlurmRelease> plan_slurm_release(const SlurmJob& job, const SlurmConfig& config,
                                        std::uint64_t restarts);

}  // namespace outlast::notice
