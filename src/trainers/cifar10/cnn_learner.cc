#include "trainers/cifar10/cnn_learner.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "checkpoint/safetensors.h"
#include "sdk/snapshots.h"
#include "sys/threads.h"
#include "trainers/data/image_set.h"
#include "trainers/data/order.h"
#include "trainers/fused/cnn.h"
#include "trainers/fused/cnn_layout.h"
#include "trainers/fused/cross_entropy.h"
#include "trainers/fused/kernels.h"
#include "trainers/learner.h"
#include "trainers/schedule.h"
#include "trainers/train_options.h"
#include "trainers/weights/weight_file.h"
#include "trainers/weights/weight_match.h"

namespace outlast::trainers {
namespace {

constexpr std::size_t kEvaluatedAtOnce = 512;
constexpr std::uint64_t kNoEpoch = std::numeric_limits<std::uint64_t>::max();

fused::Update::Rule rule_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdam:
      return fused::Update::Rule::kAdam;
    case Optimizer::kAdamW:
      return fused::Update::Rule::kAdamW;
    case Optimizer::kSgd:
      break;
  }
  return fused::Update::Rule::kSgd;
}

// What a picture's logits say.
struct Said {
  std::size_t label = 0;
  std::vector<double> probabilities = {};
};

Said said(std::span<const float> logits) {
  Said out;
  out.label = static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
  double sum = 0;
  for (const float logit : logits) {
    sum += out.probabilities.emplace_back(std::exp(static_cast<double>(logit - logits[out.label])));
  }
  for (double& probability : out.probabilities) probability /= sum;
  return out;
}

// Calls `each` with the number and the logits of every picture.
template <class Each>
Result<void> for_each_picture(fused::Cnn& cnn, const ImageSet& images, const Each& each) {
  const std::size_t classes = cnn.shape().classes;
  for (std::size_t first = 0; first < images.count(); first += kEvaluatedAtOnce) {
    std::vector<const std::uint8_t*> pictures;
    for (std::size_t i = first; i < std::min(first + kEvaluatedAtOnce, images.count()); ++i) {
      pictures.push_back(images.image(i).data());
    }
    const std::vector<float> logits = cnn.infer(
        {.pictures = pictures.data(), .count = pictures.size(), .channels = images.channels});
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      OUTLAST_TRY(each(first + i, std::span(logits).subspan(i * classes, classes)));
    }
  }
  return {};
}

}  // namespace

CnnLearner::CnnLearner(ImageData data, const TrainOptions& options, sys::Threads& threads)
    : data_(std::move(data)),
      options_(options),
      cnn_({.channels = data_.train.channels, .classes = data_.train.class_names.size()}, threads,
           options.threads),
      steps_per_epoch_((data_.train.count() + options.batch_size - 1) / options.batch_size),
      ordered_epoch_(kNoEpoch) {
  cnn_.draw_parameters(mix_seed({.a = options.seed, .b = 1}));
}

void CnnLearner::describe(Snapshots& snapshots) {
  const std::size_t floats = cnn_.layout().floats;
  snapshots.add("model", cnn_.parameters().data(), floats);
  // Both, whatever the rule: who resumes with another one is told so, and not of tensors.
  snapshots.add("optimizer.first_moment", cnn_.first_moment().data(), floats);
  snapshots.add("optimizer.second_moment", cnn_.second_moment().data(), floats);
}

void CnnLearner::gather(std::uint64_t number) {
  const std::uint64_t epoch = number / steps_per_epoch_;
  const std::size_t count = data_.train.count();
  if (epoch != ordered_epoch_) {
    order_ = epoch_order(
        {.seed = options_.seed, .epoch = epoch, .count = static_cast<std::uint32_t>(count)});
    ordered_epoch_ = epoch;
  }
  const std::size_t first =
      static_cast<std::size_t>(number % steps_per_epoch_ * options_.batch_size);
  const std::size_t last = std::min<std::size_t>(first + options_.batch_size, count);
  pictures_.clear();
  labels_.clear();
  for (std::size_t i = first; i < last; ++i) {
    pictures_.push_back(data_.train.image(order_[i]).data());
    labels_.push_back(data_.train.labels[order_[i]]);
  }
}

Result<StepReport> CnnLearner::step(std::uint64_t number) {
  gather(number);
  const Moment moment{.step = number,
                      .steps = options_.total_steps(steps_per_epoch_),
                      .steps_per_epoch = steps_per_epoch_};
  const double rate = options_.learning_rate * schedule_factor(options_.schedule, moment);
  const fused::BatchResult result =
      cnn_.learn({.pictures = pictures_.data(),
                  .labels = labels_.data(),
                  .count = pictures_.size(),
                  .channels = data_.train.channels},
                 {.rule = rule_of(options_.optimizer),
                  .learning_rate = static_cast<float>(rate),
                  .momentum = static_cast<float>(options_.momentum),
                  .weight_decay = static_cast<float>(options_.weight_decay),
                  .step = number + 1});
  return StepReport{.loss = result.loss / static_cast<double>(pictures_.size()),
                    .examples = pictures_.size(),
                    .correct = result.correct};
}

Result<Evaluation> CnnLearner::evaluate() {
  Evaluation evaluation;
  double loss = 0;
  std::vector<float> unused(cnn_.shape().classes);  // the gradient, which is of no use here
  OUTLAST_TRY(for_each_picture(
      cnn_, data_.test, [&](std::size_t number, std::span<const float> logits) -> Result<void> {
        const fused::Answer answer = fused::cross_entropy(
            logits.data(), logits.size(), data_.test.labels[number], 0, unused.data());
        loss += answer.loss;
        ++evaluation.examples;
        evaluation.correct += answer.correct ? 1 : 0;
        return {};
      }));
  evaluation.loss = loss / std::max<double>(static_cast<double>(evaluation.examples), 1);
  return evaluation;
}

Result<void> CnnLearner::predict(const PredictionSink& sink) {
  return for_each_picture(cnn_, data_.test, [&](std::size_t number, std::span<const float> logits) {
    const Said answer = said(logits);
    return sink({.example = std::to_string(number),
                 .label = data_.test.class_names[answer.label],
                 .probability = answer.probabilities[answer.label],
                 .truth = data_.test.class_names[data_.test.labels[number]]});
  });
}

Weights CnnLearner::weights() const {
  Weights weights;
  for (const fused::CnnTensor& tensor : fused::cnn_tensors(cnn_.shape())) {
    WeightTensor& to = weights.tensors.emplace_back(
        WeightTensor{.name = tensor.name,
                     .dtype = checkpoint::Dtype::kF32,
                     .shape = tensor.shape,
                     .data = Bytes(tensor.places.size() * sizeof(float))});
    for (std::size_t i = 0; i < tensor.places.size(); ++i) {
      std::memcpy(to.data.data() + i * sizeof(float), cnn_.parameters().data() + tensor.places[i],
                  sizeof(float));
    }
  }
  return weights;
}

Result<void> CnnLearner::load(const Weights& weights) {
  const Weights plain = plain_state(weights);
  const std::vector<fused::CnnTensor> tensors = fused::cnn_tensors(cnn_.shape());
  std::vector<WantedTensor> wanted;
  wanted.reserve(tensors.size());
  for (const fused::CnnTensor& tensor : tensors) {
    wanted.push_back({.name = tensor.name, .shape = tensor.shape});
  }
  OUTLAST_TRY(match(plain, wanted));
  for (const fused::CnnTensor& tensor : tensors) {
    const WeightTensor& from = *plain.find(tensor.name);
    for (std::size_t i = 0; i < tensor.places.size(); ++i) {
      std::memcpy(cnn_.parameters().data() + tensor.places[i], from.data.data() + i * sizeof(float),
                  sizeof(float));
    }
  }
  return {};
}

Result<ImageSet> with_border(ImageSet images) {
  if (images.width == fused::kSide && images.height == fused::kSide) return images;
  if (images.width > fused::kSide || images.height > fused::kSide) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("pictures of {}x{} pixels are too large for this network, which takes "
                             "{}x{}",
                             images.width, images.height, fused::kSide, fused::kSide));
  }
  const std::size_t left = (fused::kSide - images.width) / 2;
  const std::size_t above = (fused::kSide - images.height) / 2;
  std::vector<std::uint8_t> pixels(images.count() * images.channels * fused::kSide * fused::kSide);
  for (std::size_t plane = 0; plane < images.count() * images.channels; ++plane) {
    for (std::size_t y = 0; y < images.height; ++y) {
      std::memcpy(pixels.data() + (plane * fused::kSide + above + y) * fused::kSide + left,
                  images.pixels.data() + (plane * images.height + y) * images.width, images.width);
    }
  }
  images.pixels = std::move(pixels);
  images.width = fused::kSide;
  images.height = fused::kSide;
  return images;
}

}  // namespace outlast::trainers
