#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "trainers/learner.h"
#include "trainers/torch/image_batches.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

class ImageModel;

struct ImageLearnerOptions {
  TrainOptions train = {};
  // In memory the channels of a pixel are side by side: faster for most convolutions.
  bool channels_last = true;
  // Only the head learns, and nothing else changes, running statistics included; for ever, or until
  // this epoch, counted from 0.
  bool is_frozen = false;
  std::optional<std::uint64_t> unfreeze_epoch = {};
  // Weights that are loaded may have another number of classes: the head stays new then.
  bool may_have_new_head = false;
};

struct ImageLearnerParts {
  std::shared_ptr<ImageModel> model;  // the learner's from now on
  std::unique_ptr<ImageBatches> train;
  std::unique_ptr<ImageBatches> test;
};

struct EpochSize {
  std::uint64_t count = 0;
  std::uint64_t batch_size = 1;
};
// How many steps an epoch has: a rest of a single picture is left out, as it has no statistics.
std::uint64_t steps_per_epoch(const EpochSize& size);

// Learns classes of pictures by cross entropy. Uses libtorch's threads as options say.
std::unique_ptr<Learner> make_image_learner(ImageLearnerParts parts,
                                            const ImageLearnerOptions& options);

}  // namespace outlast::trainers
