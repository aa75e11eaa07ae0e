#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sdk/snapshots.h"
#include "trainers/learner.h"
#include "trainers/metrics.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

// All that a training is at one moment: the learner's state, and ours beside it. Confined to its
// owner.
class TrainingState {
 public:
  struct Parts {
    Learner& learner;
    const HyperParameters& hyper_parameters;
    SnapshotOptions snapshots = {};
    std::size_t points_max = 0;  // of the metrics
  };
  // Registers everything. `parts` outlives this.
  explicit TrainingState(const Parts& parts);

  // Puts the newest snapshot in place, if there is one, and returns its step. kInvalidArgument,
  // with both values, if its hyper-parameters are others and `may_differ` is false; kFailed if it
  // does not fit, or cannot be read: nothing may be trained then.
  Result<std::optional<std::uint64_t>> resume(bool may_differ);

  // As in sdk/snapshots.h, but what they throw becomes an error.
  Result<bool> step_done(std::uint64_t step, std::uint64_t total);
  Result<void> save(std::uint64_t step);
  Result<void> done();

  Snapshots& snapshots() { return snapshots_; }
  Metrics& metrics() { return metrics_; }
  RunningSums& sums() { return sums_; }

 private:
  HyperParameters given_;
  std::string saved_hyper_parameters_;  // as JSON
  Metrics metrics_;
  Result<void> metrics_read_;
  RunningSums sums_;
  Snapshots snapshots_;
};

}  // namespace outlast::trainers
