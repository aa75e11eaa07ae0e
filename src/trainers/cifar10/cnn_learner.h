#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sdk/snapshots.h"
#include "sys/threads.h"
#include "trainers/data/image_set.h"
#include "trainers/fused/cnn.h"
#include "trainers/learner.h"
#include "trainers/schedule.h"
#include "trainers/train_options.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {

// The small CNN, and pictures in memory to learn from. Confined to its owner.
class CnnLearner final : public Learner {
 public:
  // The data's pictures are 32x32. `threads` outlives this.
  CnnLearner(ImageData data, const TrainOptions& options, sys::Threads& threads);

  // A last batch that is not full counts.
  std::uint64_t steps_per_epoch() const { return steps_per_epoch_; }

  void describe(Snapshots& snapshots) override;
  Result<StepReport> step(std::uint64_t number) override;
  Result<Evaluation> evaluate() override;
  Result<void> predict(const PredictionSink& sink) override;
  Weights weights() const override;
  Result<void> load(const Weights& weights) override;

 private:
  // The pictures of a step.
  void gather(std::uint64_t number);

  ImageData data_;
  TrainOptions options_;
  fused::Cnn cnn_;
  std::uint64_t steps_per_epoch_;
  std::uint64_t ordered_epoch_;  // that order_ is of
  std::vector<std::uint32_t> order_;
  std::vector<const std::uint8_t*> pictures_;  // of the batch
  std::vector<std::uint16_t> labels_;
};

// Pictures that are smaller than 32x32, with a black border; those that are not are left alone.
// kInvalidArgument if they are larger.
Result<ImageSet> with_border(ImageSet images);

}  // namespace outlast::trainers
