#include "trainers/torch/image_learner.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainers/data/order.h"
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
                           .weight_decay = {options.train.weight_decay}}) {
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
      OUTLAST_TRY(look_at_tests([&](std::span<const std::uint32_t> numbers, const Batch& batch,
                                    const torch::Tensor& scores) -> Result<void> {
        evaluation.loss += torch::cross_entropy_loss(scores, batch.labels).item<double>() *
                           static_cast<double>(numbers.size());
        evaluation.correct += correct_of(scores, batch);
        evaluation.examples += numbers.size();
        return {};
      }));
      if (evaluation.examples > 0) evaluation.loss /= static_cast<double>(evaluation.examples);
      return evaluation;
    });
  }

  Result<void> predict(const PredictionSink& sink) override {
    return torch_call("predict", [&]() -> Result<void> {
      return look_at_tests([&](std::span<const std::uint32_t> numbers, const Batch& batch,
                               const torch::Tensor& scores) -> Result<void> {
        const auto [best, classes] = torch::softmax(scores, 1).max(1);
        const std::vector<std::string>& names = parts_.test->class_names();
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const auto at = static_cast<std::int64_t>(i);
          OUTLAST_TRY(sink(
              {.example = parts_.test->name(numbers[i]),
               .label = names[static_cast<std::size_t>(classes[at].item<std::int64_t>())],
               .probability = best[at].item<double>(),
               .truth = names[static_cast<std::size_t>(batch.labels[at].item<std::int64_t>())]}));
        }
        return {};
      });
    });
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
    const std::uint64_t epoch = number / steps_per_epoch_;
    const std::vector<std::uint32_t> numbers = numbers_of(number);
    OUTLAST_TRY_ASSIGN(
        const Batch batch,
        read(*parts_.train, numbers, mix_seed({.a = options_.train.seed, .b = epoch, .c = 1})));
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
                      .examples = numbers.size(),
                      .correct = correct_of(scores, batch)};
  }

  // Which pictures a step learns from.
  std::vector<std::uint32_t> numbers_of(std::uint64_t step) {
    const std::uint64_t epoch = step / steps_per_epoch_;
    if (order_.empty() || order_epoch_ != epoch) {
      order_ = epoch_order(
          {.seed = options_.train.seed, .epoch = epoch, .count = parts_.train->count()});
      order_epoch_ = epoch;
    }
    const std::uint64_t begin = step % steps_per_epoch_ * options_.train.batch_size;
    const std::uint64_t end =
        std::min<std::uint64_t>(begin + options_.train.batch_size, order_.size());
    return {order_.begin() + static_cast<std::ptrdiff_t>(begin),
            order_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  Result<Batch> read(ImageBatches& from, std::span<const std::uint32_t> numbers,
                     std::optional<std::uint64_t> seed) const {
    const auto count = static_cast<std::int64_t>(numbers.size());
    const auto side = static_cast<std::int64_t>(from.side());
    const torch::Tensor images = torch::empty({count, side, side, 3}, torch::kFloat32);
    const torch::Tensor labels = torch::empty({count}, torch::kInt64);
    OUTLAST_TRY(
        from.read(numbers, seed,
                  {.pixels = {images.data_ptr<float>(), static_cast<std::size_t>(images.numel())},
                   .labels = {labels.data_ptr<std::int64_t>(), numbers.size()}}));
    const torch::Tensor ordered = images.permute({0, 3, 1, 2});
    return Batch{.images = options_.channels_last ? ordered : ordered.contiguous(),
                 .labels = labels};
  }

  template <class Look>
  Result<void> look_at_tests(const Look& look) {
    const torch::NoGradGuard no_gradients;
    parts_.model->eval();
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t begin = 0; begin < parts_.test->count(); begin += kTestBatch) {
      numbers.clear();
      const std::uint32_t end = std::min(begin + kTestBatch, parts_.test->count());
      for (std::uint32_t number = begin; number < end; ++number) numbers.push_back(number);
      OUTLAST_TRY_ASSIGN(const Batch batch, read(*parts_.test, numbers, std::nullopt));
      OUTLAST_TRY(look(numbers, batch, parts_.model->forward(batch.images)));
    }
    return {};
  }

  static std::uint64_t correct_of(const torch::Tensor& scores, const Batch& batch) {
    const torch::Tensor right = scores.argmax(1).eq(batch.labels).sum();
    return static_cast<std::uint64_t>(right.item<std::int64_t>());
  }

  ImageLearnerParts parts_;
  ImageLearnerOptions options_;
  std::uint64_t steps_per_epoch_;
  FlatParameters flat_;
  FlatOptimizer optimizer_;
  std::vector<std::uint32_t> order_;  // of order_epoch_; empty: of none yet
  std::uint64_t order_epoch_ = 0;
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
