#include "trainers/training_state.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sdk/snapshots.h"
#include "trainers/checked_snapshots.h"
#include "trainers/learner.h"
#include "trainers/metrics.h"

namespace outlast::trainers {

TrainingState::TrainingState(const Parts& parts)
    : checked_(parts.snapshots, parts.hyper_parameters) {
  parts.learner.describe(snapshots());
  snapshots().add_value("trainer.sums", &sums_);
  snapshots().add_blob(
      "trainer.metrics", parts.points_max * Metrics::kLineBytesMax,
      [this] { return metrics_.text(); },
      [this](std::string_view text) {
        Result<Metrics> read = Metrics::parse(text);
        if (read) {
          metrics_ = std::move(*read);
        } else {
          metrics_read_ = read.error();
        }
      });
}

Result<std::optional<std::uint64_t>> TrainingState::resume(bool may_differ) {
  OUTLAST_TRY_ASSIGN(
      const std::optional<std::uint64_t> step,
      checked_.resume(may_differ ? OtherValues::kTake : OtherValues::kRefuseUnlessAsked));
  OUTLAST_TRY(metrics_read_);
  return step;
}

}  // namespace outlast::trainers
