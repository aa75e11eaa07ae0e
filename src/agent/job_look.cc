#include "agent/job_look.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/beat.h"
#include "agent/root_layout.h"
#include "base/error.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/layout.h"
#include "checkpoint/parallel.h"
#include "checkpoint/read_object.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "store/prefixed_store.h"
#include "sys/call_context.h"

namespace outlast::agent {
namespace {

constexpr std::string_view kJobsPrefix = "jobs/";
// Each waits for the store nearly all of the time.
constexpr std::size_t kLookers = 16;

// The ending that an attempt tells of by itself; none if the job is to be resumed after it.
std::optional<JobState> ending_told(const Beat& beat) {
  if (beat.state != AgentState::kEnded || !beat.outcome) return std::nullopt;
  switch (*beat.outcome) {
    case AttemptOutcome::kDone:
      return JobState::kDone;
    case AttemptOutcome::kFailed:
      return JobState::kFailed;
    case AttemptOutcome::kCancelled:
      return JobState::kCancelled;
    case AttemptOutcome::kLeft:
    case AttemptOutcome::kTakenOver:
    case AttemptOutcome::kBroken:
      return std::nullopt;
  }
  return std::nullopt;
}

JobState state_of(AgentState state) {
  switch (state) {
    case AgentState::kStarting:
      return JobState::kStarting;
    case AgentState::kRestoring:
      return JobState::kRestoring;
    case AgentState::kTraining:
      return JobState::kTraining;
    case AgentState::kWaiting:
      return JobState::kWaiting;
    case AgentState::kLeaving:
      return JobState::kLeaving;
    case AgentState::kEnded:
      return JobState::kLeft;
  }
  return JobState::kUnknown;
}

bool leaves_open(const JobLook& look) {
  return !look.beat || (!is_alive(look) && !ending_told(*look.beat));
}

// Not by our clock: it may differ from the store's by more than a beat may be old. Where the store
// does not tell (a folder that we may not write into), ours is the next best.
WallTime time_of_store(const LookParts& parts, const sys::CallContext& ctx) {
  const Result<WallTime> time = parts.root.server_time(ctx);
  return time ? *time : parts.clock.wall_now();
}

Result<void> take_beat(const LookParts& parts, WallTime now, JobLook& look,
                       const sys::CallContext& ctx) {
  Result<std::optional<FoundBeat>> found = find_beat(parts.root, look.job, ctx);
  if (!found && !checkpoint::is_damage(found.error())) return found.error();
  if (!found) {
    look.unreadable = found.error().to_string();
    return {};
  }
  std::optional<FoundBeat> newest = *std::move(found);
  if (!newest) return {};
  look.beat_age = std::max(Duration::zero(), now - newest->modified);
  look.checkpoint = newest->beat.committed;
  look.beat = std::move(newest->beat);
  return {};
}

void take_history(const job::History& history, JobLook& look) {
  look.log_was_read = true;
  if (history.ended() != 0) {
    look.ending = history.ending() == nullptr ? job::LogEntry{.kind = job::EntryKind::kFence}
                                              : *history.ending();
  }
  const std::vector<job::Seq> restorable = history.restorable();
  const job::LogEntry* newest = restorable.empty() ? nullptr : history.find(restorable.back());
  if (newest == nullptr || (look.checkpoint && look.checkpoint->seq > newest->seq)) return;
  look.checkpoint = {.seq = newest->seq,
                     .step = newest->checkpoint.step,
                     .time = newest->time,
                     .bytes = newest->checkpoint.bytes};
}

Result<void> take_log(const LookParts& parts, Random& random, JobLook& look,
                      const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string folder, checkpoint::job_folder(look.job));
  store::PrefixedStore store(parts.root, folder);
  const Result<checkpoint::CommitLog> log = checkpoint::CommitLog::open(
      {.store = store, .threads = parts.threads, .clock = parts.clock, .random = random}, ctx);
  if (log) {
    take_history(log->history(), look);
  } else if (checkpoint::is_damage(log.error())) {
    look.unreadable = log.error().to_string();
  } else {
    return log.error();
  }
  return {};
}

// Names that no job can have are somebody else's.
Result<std::vector<JobLook>> list_jobs(store::ObjectStore& root, const sys::CallContext& ctx) {
  std::vector<JobLook> looks;
  store::ListOptions options = {.prefix = std::string(kJobsPrefix), .folders = true};
  do {
    OUTLAST_TRY_ASSIGN(store::ListPage page, root.list(options, ctx));
    for (const std::string& folder : page.folders) {
      const std::string_view name = std::string_view(folder).substr(
          kJobsPrefix.size(), folder.size() - kJobsPrefix.size() - 1);
      if (checkpoint::job_folder(name)) looks.push_back({.job = std::string(name)});
    }
    options.page_token = std::move(page.next);
  } while (!options.page_token.empty());
  // A listing has "a-b/" before "a/".
  std::ranges::sort(looks, {}, &JobLook::job);
  return looks;
}

Result<std::vector<std::string>> list_beats(store::ObjectStore& root, const sys::CallContext& ctx) {
  std::vector<std::string> keys;
  store::ListOptions options = {.prefix = std::string(kBeatsPrefix)};
  do {
    OUTLAST_TRY_ASSIGN(store::ListPage page, root.list(options, ctx));
    for (store::ObjectInfo& object : page.objects) keys.push_back(std::move(object.key));
    options.page_token = std::move(page.next);
  } while (!options.page_token.empty());
  return keys;
}

}  // namespace

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::kStarting:
      return "starting";
    case JobState::kRestoring:
      return "restoring";
    case JobState::kTraining:
      return "training";
    case JobState::kWaiting:
      return "waiting";
    case JobState::kLeaving:
      return "leaving";
    case JobState::kVanished:
      return "vanished";
    case JobState::kLeft:
      return "left, to be resumed";
    case JobState::kDone:
      return "done";
    case JobState::kFailed:
      return "failed";
    case JobState::kCancelled:
      return "cancelled";
    case JobState::kOnlyCheckpoints:
      return "only checkpoints";
    case JobState::kUnknown:
      break;
  }
  return "unknown";
}

const Beat* live_beat(const JobLook& look) {
  if (!look.beat || look.beat->state == AgentState::kEnded) return nullptr;
  return look.beat_age < kBeatStale ? &*look.beat : nullptr;
}

JobState judge(const JobLook& look) {
  if (look.ending) {
    switch (look.ending->kind) {
      case job::EntryKind::kDone:
        return JobState::kDone;
      case job::EntryKind::kFailed:
        return JobState::kFailed;
      case job::EntryKind::kCancelled:
        return JobState::kCancelled;
      default:
        return JobState::kUnknown;  // it has ended, but how cannot be read
    }
  }
  if (!look.beat) return look.unreadable.empty() ? JobState::kOnlyCheckpoints : JobState::kUnknown;
  if (!look.log_was_read) {
    if (const auto told = ending_told(*look.beat)) return *told;
  }
  const bool is_silent = look.beat->state != AgentState::kEnded && !is_alive(look);
  return is_silent ? JobState::kVanished : state_of(look.beat->state);
}

Result<std::vector<JobLook>> look_at_jobs(const LookParts& parts, const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(std::vector<JobLook> looks, list_jobs(parts.root, ctx));
  OUTLAST_TRY_ASSIGN(const std::vector<std::string> beats, list_beats(parts.root, ctx));
  const WallTime now = time_of_store(parts, ctx);
  std::vector<Random> random;
  random.reserve(kLookers);
  for (std::size_t i = 0; i < kLookers; ++i) random.push_back(parts.random.fork());
  const checkpoint::Piece look_at = [&](std::size_t index, std::size_t worker,
                                        const sys::CallContext& piece_ctx) -> Result<void> {
    JobLook& look = looks[index];
    if (std::ranges::binary_search(beats, beat_key(look.job))) {
      OUTLAST_TRY(take_beat(parts, now, look, piece_ctx));
    }
    if (!leaves_open(look)) return {};
    return take_log(parts, random[worker], look, piece_ctx);
  };
  OUTLAST_TRY(checkpoint::do_in_parallel(
      {.threads = parts.threads, .clock = parts.clock, .workers = kLookers}, "look", looks.size(),
      look_at, ctx));
  return looks;
}

Result<JobLook> look_at_job(const LookParts& parts, const std::string& job,
                            const job::History& history, const sys::CallContext& ctx) {
  JobLook look = {.job = job};
  OUTLAST_TRY(take_beat(parts, time_of_store(parts, ctx), look, ctx));
  take_history(history, look);
  return look;
}

}  // namespace outlast::agent
