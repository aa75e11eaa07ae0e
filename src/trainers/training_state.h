#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sdk/snapshots.h"
#include "trainers/checked_snapshots.h"
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
    HyperParameters hyper_parameters = {};
    SnapshotOptions snapshots = {};
    std::size_t points_max = 0;  // of the metrics
  };
  // Registers everything. `parts` outlives this.
  explicit TrainingState(const Parts& parts);

  // As in checked_snapshots.h; kCorrupt if the metrics cannot be read.
  Result<std::optional<std::uint64_t>> resume(bool may_differ);

  Result<bool> step_done(std::uint64_t step, std::uint64_t total) {
    return checked_.step_done(step, total);
  }
  Result<void> save(std::uint64_t step) { return checked_.save(step); }
  Result<void> done() { return checked_.done(); }

  // As in checked_snapshots.h.
  void follow(std::string name) { checked_.follow(std::move(name)); }
  const HyperParameters& hyper_parameters() const { return checked_.hyper_parameters(); }

  Snapshots& snapshots() { return checked_.snapshots(); }
  Metrics& metrics() { return metrics_; }
  RunningSums& sums() { return sums_; }

 private:
  Metrics metrics_;
  Result<void> metrics_read_;
  RunningSums sums_;
  CheckedSnapshots checked_;  // last: what it has registered is above
};

}  // namespace outlast::trainers
