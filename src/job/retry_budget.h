#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"
#include "job/log_entry.h"

// Whether a trainer that ended is started again. Pure, and without a state of its own: it is worked
// out from how the attempts ended, which the root knows, so that it survives the agent.
namespace outlast::job {

inline constexpr Duration kRetryWaitFirst = std::chrono::seconds(1);
inline constexpr Duration kRetryWaitMax = std::chrono::minutes(5);

// How one life of the trainer ended; one attempt may have several.
struct AttemptEnd {
  enum class Kind {
    kPreempted,  // the machine went
    kLeft,       // EndMeaning::kLeft
    kFailed,     // EndMeaning::kFailed
  };
  Kind kind = Kind::kFailed;
  std::string death = {};                  // kFailed: describe(TrainerExit)
  std::optional<std::uint64_t> step = {};  // the last the trainer told of
  // The newest that was committed by then (0: none), and its step, if it has one.
  Seq checkpoint = 0;
  std::optional<std::uint64_t> checkpoint_step = {};
  friend bool operator==(const AttemptEnd&, const AttemptEnd&) = default;
};

struct RetryDecision {
  bool again = true;
  Duration wait = {};          // before it is started again
  std::uint64_t failures = 0;  // that count at the moment
  std::uint64_t deaths = 0;    // the last one, how often in a row at the same step; 0: it is none
  std::string why = {};        // one sentence for the record
};

// After the last of `ends`, oldest first. With `retries` = 3, the fourth failure is the last one.
// - Only failures count, never preemptions and leaves. After those it goes on at once; but a
// trainer
//   that leaves again and again without progress is given the same waits, so that it cannot spin.
// - A failure counts as the first again if there was progress since the one before it: a checkpoint
//   was committed at a higher step or, where a step is not known, a newer one at all.
// - The wait doubles with each failure that counts, from kRetryWaitFirst to kRetryWaitMax.
RetryDecision decide_retry(std::span<const AttemptEnd> ends, std::uint64_t retries);

}  // namespace outlast::job
