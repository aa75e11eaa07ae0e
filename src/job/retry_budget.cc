#include "job/retry_budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "base/time.h"
#include "base/units.h"

namespace outlast::job {
namespace {

bool has_progress(const AttemptEnd& before, const AttemptEnd& after) {
  if (before.checkpoint_step && after.checkpoint_step) {
    return *after.checkpoint_step > *before.checkpoint_step;
  }
  return after.checkpoint > before.checkpoint;
}

bool is_same_death(const AttemptEnd& before, const AttemptEnd& after) {
  return before.step && before.step == after.step && before.death == after.death;
}

// What the ends so far come to.
struct EndTally {
  const AttemptEnd* last = nullptr;     // of all
  const AttemptEnd* failure = nullptr;  // the last one
  std::uint64_t failures = 0;
  std::uint64_t deaths = 0;
  std::uint64_t idle_leaves = 0;  // in a row, since there was progress

  void add(const AttemptEnd& end) {
    const bool idle = last != nullptr && last->kind == end.kind && !has_progress(*last, end);
    idle_leaves = end.kind == AttemptEnd::Kind::kLeft && idle ? idle_leaves + 1 : 0;
    last = &end;
    if (end.kind != AttemptEnd::Kind::kFailed) return;
    failures = failure == nullptr || has_progress(*failure, end) ? 1 : failures + 1;
    deaths = failure != nullptr && is_same_death(*failure, end) ? deaths + 1 : 1;
    failure = &end;
  }
};

Duration retry_wait(std::uint64_t failures) {
  Duration wait = kRetryWaitFirst;
  for (std::uint64_t i = 1; i < failures && wait < kRetryWaitMax; ++i) wait *= 2;
  return std::min(wait, kRetryWaitMax);
}

std::string death_text(const AttemptEnd& end, std::uint64_t deaths) {
  const std::string how = end.death.empty() ? "an unknown cause" : end.death;
  if (deaths > 1) {
    return fmt::format("the trainer died {} times in a row of {} at step {}", deaths, how,
                       end.step.value_or(0));
  }
  return end.step ? fmt::format("the trainer died of {} at step {}", how, *end.step)
                  : fmt::format("the trainer died of {}", how);
}

}  // namespace

RetryDecision decide_retry(std::span<const AttemptEnd> ends, std::uint64_t retries) {
  EndTally tally;
  for (const AttemptEnd& end : ends) tally.add(end);
  RetryDecision decision;
  decision.failures = tally.failures;
  if (ends.empty()) {
    decision.why = "nothing has ended yet";
    return decision;
  }
  const AttemptEnd& end = ends.back();
  if (end.kind != AttemptEnd::Kind::kFailed) {
    decision.why = end.kind == AttemptEnd::Kind::kPreempted
                       ? "the machine was taken away, which is no failure"
                       : "the trainer left as it should, which is no failure";
    if (tally.idle_leaves > 0) {
      decision.wait = retry_wait(tally.idle_leaves);
      decision.why = fmt::format("the trainer left {} times in a row without progress; on in {}",
                                 tally.idle_leaves + 1, format_duration_short(decision.wait));
    }
    return decision;
  }
  decision.deaths = tally.deaths;
  const std::string death = death_text(end, tally.deaths);
  decision.again = tally.failures <= retries;
  if (!decision.again) {
    decision.why =
        retries == 0
            ? fmt::format("{}, and the job allows no retry", death)
            : fmt::format("{}, and the job's {} retr{} without progress {} used up", death, retries,
                          retries == 1 ? "y" : "ies", retries == 1 ? "is" : "are");
    return decision;
  }
  decision.wait = retry_wait(tally.failures);
  decision.why = fmt::format("{}; retry {} of {} in {}", death, tally.failures, retries,
                             format_duration_short(decision.wait));
  return decision;
}

}  // namespace outlast::job
