#include "notice/slurm_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/time.h"

namespace outlast::notice {
namespace {

using std::chrono::seconds;

// The first release that queues a job again which ends by itself in the grace of a preemption.
constexpr std::uint64_t kRequeuesWhoLeaves = 2405;
constexpr std::uint64_t kSecondsMax = 9'000'000'000;  // what 64 bits of nanoseconds can hold
constexpr std::size_t kShownMax = 60;

// The value of "Key=value" in a line of them; the first, at the beginning of a word.
std::optional<std::string_view> field(std::string_view line, std::string_view key) {
  for (std::size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    const bool begins_word = at == 0 || line[at - 1] == ' ';
    std::string_view rest = line.substr(at + key.size());
    if (!begins_word || !rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    return rest.substr(0, rest.find(' '));
  }
  return std::nullopt;
}

// None where Slurm says that there is none.
Result<std::optional<WallTime>> time_in(std::string_view line, std::string_view key) {
  const std::string_view text = field(line, key).value_or("None");
  for (const std::string_view none : {"None", "Unknown", "N/A", "(null)", "NONE", "0"}) {
    if (text == none) return std::optional<WallTime>();
  }
  if (const auto number = parse_number<std::uint64_t>(text); number && *number <= kSecondsMax) {
    return std::optional(WallTime(seconds(*number)));
  }
  const Result<WallTime> time = parse_rfc3339(std::string(text) + "Z");
  if (time) return std::optional(*time);
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{}={} is no time", key, text.substr(0, kShownMax)));
}

std::optional<std::string_view> setting(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || ascii_trimmed(line.substr(0, equals)) != key) continue;
    return ascii_trimmed(line.substr(equals + 1));
  }
  return std::nullopt;
}

}  // namespace

Result<SlurmJob> parse_slurm_job(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto state = field(line, "JobState");
  if (!field(line, "JobId") || !state || state->empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("that is no job: '{}'", ascii_trimmed(line.substr(0, kShownMax))));
  }
  SlurmJob job = {.state = std::string(*state),
                  .reason = std::string(field(line, "Reason").value_or("")),
                  .partition = std::string(field(line, "Partition").value_or("")),
                  .is_batch = field(line, "BatchFlag").value_or("1") != "0",
                  .may_requeue = field(line, "Requeue").value_or("1") != "0"};
  job.restarts = parse_number<std::uint64_t>(field(line, "Restarts").value_or("")).value_or(0);
  OUTLAST_TRY_ASSIGN(job.ends, time_in(line, "EndTime"));
  OUTLAST_TRY_ASSIGN(job.preempted, time_in(line, "PreemptTime"));
  return job;
}

bool has_ended(const SlurmJob& job) {
  // What is not here may become running again: SUSPENDED, CONFIGURING, RESIZING, …
  static constexpr std::string_view kEnded[] = {
      "COMPLETING", "COMPLETED",     "PENDING",     "CANCELLED",   "FAILED",   "TIMEOUT",
      "PREEMPTED",  "NODE_FAIL",     "BOOT_FAIL",   "DEADLINE",    "REQUEUED", "REQUEUE_HOLD",
      "REVOKED",    "OUT_OF_MEMORY", "REQUEUE_FED", "SPECIAL_EXIT"};
  return std::ranges::find(kEnded, job.state) != std::end(kEnded);
}

SlurmConfig parse_slurm_config(std::string_view text) {
  SlurmConfig config;
  // "KillWait = 30 sec"
  std::string_view wait = setting(text, "KillWait").value_or("");
  wait = wait.substr(0, wait.find(' '));
  if (const auto number = parse_number<std::uint32_t>(wait)) config.kill_wait = seconds(*number);
  // "SLURM_VERSION = 24.11.5"
  const std::string_view version = setting(text, "SLURM_VERSION").value_or("");
  const std::size_t dot = std::min(version.find('.'), version.size());
  const auto year = parse_number<std::uint32_t>(version.substr(0, dot));
  const std::string_view rest = version.substr(std::min(dot + 1, version.size()));
  const auto month = parse_number<std::uint32_t>(rest.substr(0, rest.find('.')));
  constexpr std::uint64_t kYear = 100;
  if (year && month && *month < kYear) config.release = *year * kYear + *month;
  return config;
}

std::string parse_preempt_mode(std::string_view text) {
  return std::string(field(text.substr(0, text.find('\n')), "PreemptMode").value_or(""));
}

Result<SlurmRelease> plan_slurm_release(const SlurmJob& job, const SlurmConfig& config,
                                        std::uint64_t restarts) {
  if (job.restarts > restarts) return SlurmRelease{.why = "Slurm has queued the job again"};
  const bool is_over_time = has_ended(job) && job.reason == "TimeLimit";
  if (has_ended(job) && !is_over_time) return SlurmRelease();
  if (!job.is_batch) {
    return Error(ErrorCode::kFailed,
                 "Slurm queues only batch jobs again (sbatch): start this one again by hand");
  }
  if (!job.may_requeue) {
    return Error(ErrorCode::kFailed,
                 "this job may not be queued again (sbatch --requeue): submit it again by hand");
  }
  // Newer releases do it themselves, and one that was queued again by hand in its grace would be so
  // a second time, after its end. Where the release is not known, once too often is better: a job
  // that is done finds that out. Where preempted jobs are cancelled, nobody else does it.
  const bool in_grace = job.preempted && !is_over_time;
  const bool does_it = config.release.value_or(0) >= kRequeuesWhoLeaves;
  if (in_grace && does_it && config.preempt_mode != "CANCEL") {
    return SlurmRelease{.why = "Slurm queues the job again once we have left"};
  }
  return SlurmRelease{.requeue = true};
}

}  // namespace outlast::notice
