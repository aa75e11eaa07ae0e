#include "trainers/torch/image_learner.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trainers/data/order.h"
#include "trainers/images/picture_source.h"
#include "trainers/images/pictures_ahead.h"
#include "trainers/images/transforms.h"
#include "trainers/schedule.h"
#include "trainers/torch/flat_optimizer.h"
#include "trainers/torch/flat_parameters.h"
#include "trainers/torch/image_model.h"
#include "trainers/torch/torch_call.h"
#include "trainers/torch/torch_run.h"
#include "trainers/torch/torch_weights.h"

namespace outlast::trainers {

namespace {

constexpr std::size_t kBody = 0;
constexpr std::size_t kHead = 1;
constexpr std::uint32_t kTestBatch = 100;

FlatRule rule_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
      return FlatRule::kSgd;
    case Optimizer::kAdam:
      return FlatRule::kAdam;
    case Optimizer::kAdamW:
      return FlatRule::kAdamW;
  }
  return FlatRule::kSgd;
}

struct Batch {
  std::vector<std::uint32_t> wanted;   // pictures, by their numbers
  std::vector<std::uint32_t> numbers;  // of those that came in their place
  torch::Tensor images;
  torch::Tensor labels;
};

class ImageLearner : public Learner {
 public:
  ImageLearner(ImageLearnerParts parts, const ImageLearnerOptions& options)
      : parts_(std::move(parts)),
        options_(options),
        steps_per_epoch_(steps_per_epoch(
            {.count = parts_.train->count(), .batch_size = options.train.batch_size})),
        flat_(frozen_for_ever(*parts_.model, options), flat_options()),
        optimizer_(flat_, {.rule = rule_of(options.train.optimizer),
                           .momentum = options.train.momentum,
                           .weight_decay = {options.train.weight_decay}}),
        train_ahead_(*parts_.train, parts_.threads,
                     ahead_options([this](std::uint64_t step) { return train_batch(step); },
                                   options_.train.total_steps(steps_per_epoch_))) {
    use_threads(options.train.threads);
  }

  void describe(Snapshots& snapshots) override {
    flat_.describe(snapshots, "model.");
    optimizer_.describe(snapshots);
  }

  Result<StepReport> step(std::uint64_t number) override {
    return torch_call("train on a batch", [&] { return one_step(number); });
  }

  Result<Evaluation> evaluate() override {
    return torch_call("evaluate", [&]() -> Result<Evaluation> {
      Evaluation evaluation;
      OUTLAST_TRY(
          look_at_tests([&](const Batch& batch, const torch::Tensor& scores) -> Result<void> {
            evaluation.loss += torch::cross_entropy_loss(scores, batch.labels).item<double>() *
                               static_cast<double>(batch.numbers.size());
            evaluation.correct += correct_of(scores, batch);
            evaluation.examples += batch.numbers.size();
            return {};
          }));
      if (evaluation.examples > 0) evaluation.loss /= static_cast<double>(evaluation.examples);
      return evaluation;
    });
  }

  Result<void> predict(const PredictionSink& sink) override {
    return torch_call("predict", [&]() -> Result<void> {
      return look_at_tests([&](const Batch& batch, const torch::Tensor& scores) -> Result<void> {
        const auto [best, classes] = torch::softmax(scores, 1).max(1);
        const std::vector<std::string>& names = parts_.test->class_names();
        for (std::size_t i = 0; i < batch.numbers.size(); ++i) {
          // Nothing can be said of a damaged picture, least of all what another one shows.
          if (batch.numbers[i] != batch.wanted[i]) continue;
          const auto at = static_cast<std::int64_t>(i);
          OUTLAST_TRY(sink(
              {.example = parts_.test->name(batch.numbers[i]),
               .label = names[static_cast<std::size_t>(classes[at].item<std::int64_t>())],
               .probability = best[at].item<double>(),
               .truth = names[static_cast<std::size_t>(batch.labels[at].item<std::int64_t>())]}));
        }
        return {};
      });
    });
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    for (const PictureSource* pictures : {parts_.train.get(), parts_.test.get()}) {
      if (std::optional<std::string> damage = pictures->damage()) {
        notes.push_back(*std::move(damage));
      }
    }
    return notes;
  }

  Weights weights() const override { return weights_of(*parts_.model); }

  Result<void> load(const Weights& weights) override {
    return torch_call("load weights", [&] {
      return put_weights(
          *parts_.model, weights,
          {.own_prefix = options_.may_have_new_head ? parts_.model->head_prefix() : ""});
    });
  }

 private:
  // What never learns has no place in the flat tensors, nor in what the optimizer keeps.
  static ImageModel& frozen_for_ever(ImageModel& model, const ImageLearnerOptions& options) {
    if (!options.is_frozen || options.unfreeze_epoch) return model;
    for (const auto& item : model.named_parameters()) {
      item.value().set_requires_grad(item.key().starts_with(model.head_prefix()));
    }
    return model;
  }

  FlatParameters::Options flat_options() const {
    // The parameters stay as PyTorch has them: it is the pictures that make it faster.
    return {.group_of =
                [prefix = parts_.model->head_prefix()](const std::string& name) {
                  return name.starts_with(prefix) ? kHead : kBody;
                },
            .groups = 2};
  }

  std::uint64_t unfreeze_step() const {
    return options_.is_frozen ? options_.unfreeze_epoch.value_or(0) * steps_per_epoch_ : 0;
  }
  bool body_learns_at(std::uint64_t step) const {
    if (!options_.is_frozen) return true;
    return options_.unfreeze_epoch && step >= unfreeze_step();
  }

  Result<StepReport> one_step(std::uint64_t number) {
    OUTLAST_TRY_ASSIGN(PictureBatch pictures, train_ahead_.take(number));
    const Batch batch = tensors_of(std::move(pictures), *parts_.train);
    const bool body_learns = body_learns_at(number);
    parts_.model->train(body_learns);
    flat_.set_trainable(kBody, body_learns);
    flat_.zero_gradients();
    seed_torch({.seed = options_.train.seed, .step = number});
    const torch::Tensor scores = parts_.model->forward(batch.images);
    const torch::Tensor loss = torch::cross_entropy_loss(scores, batch.labels);
    loss.backward();
    const Moment moment{.step = number,
                        .steps = options_.train.total_steps(steps_per_epoch_),
                        .steps_per_epoch = steps_per_epoch_};
    const double rate =
        options_.train.learning_rate * schedule_factor(options_.train.schedule, moment);
    optimizer_.update(kHead, {.learning_rate = rate, .count = number + 1});
    if (body_learns) {
      optimizer_.update(kBody, {.learning_rate = rate, .count = number - unfreeze_step() + 1});
    }
    return StepReport{.loss = loss.item<double>(),
                      .examples = batch.numbers.size(),
                      .correct = correct_of(scores, batch)};
  }

  // Which pictures a step learns from.
  WantedBatch train_batch(std::uint64_t step) {
    const std::uint64_t epoch = step / steps_per_epoch_;
    if (order_.empty() || order_epoch_ != epoch) {
      order_ = epoch_order(
          {.seed = options_.train.seed, .epoch = epoch, .count = parts_.train->count()});
      order_epoch_ = epoch;
    }
    const std::uint64_t begin = step % steps_per_epoch_ * options_.train.batch_size;
    const std::uint64_t end =
        std::min<std::uint64_t>(begin + options_.train.batch_size, order_.size());
    return {.numbers = {order_.begin() + static_cast<std::ptrdiff_t>(begin),
                        order_.begin() + static_cast<std::ptrdiff_t>(end)},
            .seed = mix_seed({.a = options_.train.seed, .b = epoch, .c = 1})};
  }

  // How pictures are read ahead. The thread that computes helps when it has to wait.
  PicturesAheadOptions ahead_options(const std::function<WantedBatch(std::uint64_t)>& batch,
                                     std::uint64_t end) const {
    const unsigned threads = std::max(options_.train.threads, 1U);
    return {.batch = batch,
            .end = end,
            .ahead = options_.decode_ahead,
            .workers = options_.decode_ahead == 0 ? threads - 1 : threads};
  }

  Batch tensors_of(PictureBatch pictures, const PictureSource& from) const {
    const auto count = static_cast<std::int64_t>(pictures.numbers.size());
    const auto side = static_cast<std::int64_t>(from.side());
    const torch::Tensor images = torch::empty({count, side, side, 3}, torch::kFloat32);
    normalise(pictures.rgb, from.normalisation(),
              {images.data_ptr<float>(), static_cast<std::size_t>(images.numel())});
    const torch::Tensor labels = torch::empty({count}, torch::kInt64);
    std::ranges::copy(pictures.labels, labels.data_ptr<std::int64_t>());
    const torch::Tensor ordered = images.permute({0, 3, 1, 2});
    return {.wanted = std::move(pictures.wanted),
            .numbers = std::move(pictures.numbers),
            .images = options_.channels_last ? ordered : ordered.contiguous(),
            .labels = labels};
  }

  WantedBatch test_batch(std::uint64_t number) const {
    const auto begin = static_cast<std::uint32_t>(number * kTestBatch);
    WantedBatch wanted;
    wanted.numbers.resize(std::min(kTestBatch, parts_.test->count() - begin));
    std::iota(wanted.numbers.begin(), wanted.numbers.end(), begin);
    return wanted;
  }

  template <class Look>
  Result<void> look_at_tests(const Look& look) {
    const torch::NoGradGuard no_gradients;
    parts_.model->eval();
    const std::uint64_t batches = (parts_.test->count() + kTestBatch - 1) / kTestBatch;
    PicturesAhead tests(
        *parts_.test, parts_.threads,
        ahead_options([this](std::uint64_t number) { return test_batch(number); }, batches));
    for (std::uint64_t number = 0; number < batches; ++number) {
      OUTLAST_TRY_ASSIGN(PictureBatch pictures, tests.take(number));
      const Batch batch = tensors_of(std::move(pictures), *parts_.test);
      OUTLAST_TRY(look(batch, parts_.model->forward(batch.images)));
    }
    return {};
  }

  static std::uint64_t correct_of(const torch::Tensor& scores, const Batch& batch) {
    const torch::Tensor right = scores.argmax(1).eq(batch.labels).sum();
    return static_cast<std::uint64_t>(right.item<std::int64_t>());
  }

  ImageLearnerParts parts_;
  const ImageLearnerOptions options_;
  const std::uint64_t steps_per_epoch_;
  FlatParameters flat_;
  FlatOptimizer optimizer_;
  std::vector<std::uint32_t> order_;  // of order_epoch_; empty: of none yet
  std::uint64_t order_epoch_ = 0;
  PicturesAhead train_ahead_;
};

}  // namespace

std::uint64_t steps_per_epoch(const EpochSize& size) {
  const std::uint64_t whole = size.count / size.batch_size;
  return std::max<std::uint64_t>(size.count % size.batch_size > 1 ? whole + 1 : whole, 1);
}

std::unique_ptr<Learner> make_image_learner(ImageLearnerParts parts,
                                            const ImageLearnerOptions& options) {
  return std::make_unique<ImageLearner>(std::move(parts), options);
}

}  // namespace outlast::trainers
