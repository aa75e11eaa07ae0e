#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "job/spec.h"

// When the next checkpoint is due. Pure: every time comes in, nothing is kept.
namespace outlast::job {

// Until a first save has been measured: soon, because that save is what measures.
inline constexpr Duration kFirstSaveInterval = std::chrono::minutes(1);
// However cheap a save is: each is a handful of requests to the store, which cost money.
inline constexpr Duration kSaveIntervalMin = std::chrono::seconds(10);
// However safe a place looks: that is an estimate from few machines, and nobody wants to lose more
// than this because it was wrong.
inline constexpr Duration kSaveIntervalMax = std::chrono::minutes(30);
// But a save may cost so much that even this rhythm would be a burden: it never takes more than one
// part in so many of the trainer's time.
inline constexpr int kSaveCostSharesMin = 20;

// The interval that loses least time to saves of this cost and to failures that come this often on
// average: Daly's higher-order estimate. Defined for every input: nothing below zero is believed.
// Never falls when the cost or the time to failure rises.
Duration daly_interval(Duration save_cost, Duration mean_time_to_failure);

// What is known at the moment.
struct SaveFacts {
  MonoTime now = {};
  // When the last committed save was taken, or the trainer started if there is none yet.
  MonoTime last_save = {};
  // How long the trainer stood still for a save; none before the first.
  std::optional<Duration> save_cost = {};
  // From the save until its commit was answered; none before the first.
  std::optional<Duration> upload_time = {};
  // Of the place, at the machine's age (HazardModel).
  Duration mean_time_to_failure = {};
  // Where the trainer is, and was at the last save; none if it does not say.
  std::optional<std::uint64_t> step = {};
  std::optional<std::uint64_t> last_save_step = {};
  // Of how many, if it says so. Some count the steps of each epoch anew, and then never come to a
  // number above this.
  std::optional<std::uint64_t> steps_total = {};
  std::optional<std::uint64_t> epoch = {};
  std::optional<std::uint64_t> last_save_epoch = {};
};

// The time between two saves under `every: auto`:
// - kFirstSaveInterval before anything was measured, then daly_interval(),
// - never below kSaveIntervalMin, and never above kSaveIntervalMax unless saving that often would
//   take more than its share of the time (kSaveCostSharesMin),
// - and never shorter than an upload takes, whatever else: saves would pile up.
Duration auto_interval(const SaveFacts& facts);

struct SaveDue {
  enum class Kind { kNow, kAtTime, kAtStep, kAtEpoch };
  Kind kind = Kind::kNow;
  MonoTime time = {};       // kAtTime: after `now`
  std::uint64_t count = 0;  // kAtStep, kAtEpoch: above where the trainer is
  // For `status`: "every 4m12s: …".
  std::string why = {};
};

// Steps and epochs are counted from zero, not from the last save: "500 steps" is due at 500, 1000,
// 1500 in every attempt, also after a save that was made in between for another reason. While the
// trainer does not say where it is, or counts too few steps, the rhythm is that of auto, and `why`
// says so.
SaveDue next_save(const CheckpointEvery& every, const SaveFacts& facts);

}  // namespace outlast::job
