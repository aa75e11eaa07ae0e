#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "sys/threads.h"
#include "trainers/images/picture_source.h"
#include "trainers/learner.h"
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
  // Batches that are read, by as many threads as compute, while others are learnt from; 0: none.
  std::size_t decode_ahead = 2;
};

struct ImageLearnerParts {
  std::shared_ptr<ImageModel> model;  // the learner's from now on
  std::unique_ptr<PictureSource> train;
  std::unique_ptr<PictureSource> test;
  sys::Threads& threads;  // outlive the learner
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
