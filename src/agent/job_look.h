#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/beat.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "job/history.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

// What can be seen of jobs from anywhere: a desk, another machine.
namespace outlast::agent {

enum class JobState {
  // As long as its attempt is heard of:
  kStarting,
  kRestoring,
  kTraining,
  kWaiting,
  kLeaving,
  // Otherwise:
  kVanished,  // its attempt did not say that it ended
  kLeft,      // it did; to be resumed
  kDone,
  kFailed,
  kCancelled,
  kOnlyCheckpoints,  // there was never an attempt that could be heard of
  kUnknown,          // what would tell cannot be read
};
// For people: "training", "left, to be resumed", …
std::string_view to_string(JobState state);

struct JobLook {
  std::string job = {};
  std::optional<Beat> beat = {};
  Duration beat_age = {};  // by the store's clock, which is the same for all
  bool log_was_read = false;
  std::optional<job::LogEntry> ending = {};        // the log's word
  std::optional<Beat::Committed> checkpoint = {};  // the newest
  std::string unreadable = {};  // what could not be read, and why; "" if all could
};

// The beat of an attempt that is heard of, be it one that is about to leave; nullptr if it is not.
const Beat* live_beat(const JobLook& look);
inline bool is_alive(const JobLook& look) {
  return live_beat(look) != nullptr;
}
// How it stands. The log is the truth about endings; but a beat that tells of one is written after
// it, so that it may be believed where the log was not read.
JobState judge(const JobLook& look);

struct LookParts {
  store::ObjectStore& root;
  sys::Threads& threads;
  sys::Clock& clock;
  Random& random;
};

// All jobs of a root, by name. Two listings, then the beats in parallel; and the logs, in parallel,
// of those jobs only whose beat leaves it open how they stand. A job whose papers are damaged says
// so in `unreadable`.
Result<std::vector<JobLook>> look_at_jobs(const LookParts& parts, const sys::CallContext& ctx);

// One job, and what its log says.
Result<JobLook> look_at_job(const LookParts& parts, const std::string& job,
                            const job::History& history, const sys::CallContext& ctx);

}  // namespace outlast::agent
