#include "trainers/torch/bert_learner.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "sdk/snapshots.h"
#include "trainers/data/order.h"
#include "trainers/torch/bert_weights.h"
#include "trainers/torch/row_kernels.h"
#include "trainers/torch/torch_call.h"

namespace outlast::trainers {
namespace {

// What a seed is mixed with: each use of chance has its own.
constexpr std::uint64_t kBeginning = 1;
constexpr std::uint64_t kDropping = 2;

constexpr std::size_t kLineBytes = 64;
constexpr std::int64_t kUpdatedAtOnce = 1 << 15;
// Texts are evaluated so many tokens at a time, which fits a processor's cache.
constexpr std::size_t kEvaluatedTokens = 2048;

// Calls `work` with parts of a set, as batches, and the number of the first text of each.
Result<void> for_each_part(
    const TokenSet& set, const std::function<Result<void>(const TokenBatch&, std::size_t)>& work) {
  TokenBatch batch;
  std::size_t first = 0;
  for (std::size_t number = 0; number < set.size(); ++number) {
    batch.add(set.text(number));
    if (batch.tokens.size() < kEvaluatedTokens && number + 1 < set.size()) continue;
    OUTLAST_TRY(work(batch, first));
    batch = {};
    first = number + 1;
  }
  return {};
}

void describe_array(Snapshots& snapshots, const std::string& prefix,
                    const std::vector<BertParameter>& parameters, float* data) {
  for (const BertParameter& parameter : parameters) {
    snapshots.add(prefix + parameter.name, data + parameter.begin, Dtype::kF32,
                  {parameter.shape.begin(), parameter.shape.end()});
  }
}

}  // namespace

std::span<const std::int32_t> TokenSet::text(std::size_t number) const {
  const auto begin = static_cast<std::size_t>(texts.begins[number]);
  const auto end = static_cast<std::size_t>(texts.begins[number + 1]);
  return std::span(texts.tokens).subspan(begin, end - begin);
}

void BertLearner::Free::operator()(float* memory) const {
  std::free(memory);
}

BertLearner::Array::Array(std::size_t count) {
  std::size_t bytes = count * sizeof(float) + kLineBytes;
  void* memory = std::calloc(bytes, 1);
  if (memory == nullptr) throw std::bad_alloc();
  memory_.reset(static_cast<float*>(memory));
  data_ = static_cast<float*>(std::align(kLineBytes, count * sizeof(float), memory, bytes));
}

BertLearner::BertLearner(const BertLearnerOptions& options, Texts texts)
    : options_(options),
      texts_(std::move(texts)),
      parameters_(bert_parameters(options.shape)),
      array_size_(bert_array_size(parameters_)),
      values_(array_size_),
      gradients_(array_size_),
      mean_(array_size_),
      variance_(array_size_),
      bert_(options.shape, {.values = values_.data(), .gradients = gradients_.data()}) {
  begin_bert(parameters_, mix_seed({.a = options.seed, .b = kBeginning}), values_.data());
}

std::uint64_t BertLearner::steps_per_epoch() const {
  const std::uint64_t texts = texts_.train.size();
  return std::max<std::uint64_t>((texts + options_.batch_size - 1) / options_.batch_size, 1);
}

void BertLearner::describe(Snapshots& snapshots) {
  describe_array(snapshots, "model.", parameters_, values_.data());
  describe_array(snapshots, "adamw.m.", parameters_, mean_.data());
  describe_array(snapshots, "adamw.v.", parameters_, variance_.data());
}

double BertLearner::gradient_norm() const {
  const auto count = static_cast<std::int64_t>(array_size_);
  const std::int64_t blocks = (count + kSumBlock - 1) / kSumBlock;
  std::vector<double> sums(static_cast<std::size_t>(blocks));
  at::parallel_for(0, blocks, 8, [&](std::int64_t begin, std::int64_t end) {
    sum_squares(gradients_.data(), count, {.begin = begin, .end = end}, sums.data());
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return std::sqrt(sum);
}

void BertLearner::update(std::uint64_t number) {
  const Moment moment{
      .step = number, .steps = options_.steps, .steps_per_epoch = steps_per_epoch()};
  const double norm = gradient_norm();
  AdamW adamw{.learning_rate = options_.learning_rate * schedule_factor(options_.schedule, moment),
              .gradient_scale = norm > options_.gradient_norm_max
                                    ? options_.gradient_norm_max / (norm + 1e-6)
                                    : 1.0,
              .count = number + 1};
  const AdamWArrays arrays{.values = values_.data(),
                           .gradients = gradients_.data(),
                           .mean = mean_.data(),
                           .variance = variance_.data()};
  for (const BertParameter& parameter : parameters_) {
    adamw.weight_decay = parameter.decays ? options_.weight_decay : 0;
    const auto first = static_cast<std::int64_t>(parameter.begin);
    at::parallel_for(first, first + static_cast<std::int64_t>(parameter.count), kUpdatedAtOnce,
                     [&](std::int64_t begin, std::int64_t end) {
                       update_adamw(adamw, arrays, {.begin = begin, .end = end});
                     });
  }
}

Result<StepReport> BertLearner::step(std::uint64_t number) {
  const std::uint64_t epoch = number / steps_per_epoch();
  if (order_epoch_ != epoch) {
    order_ = epoch_order({.seed = options_.seed,
                          .epoch = epoch,
                          .count = static_cast<std::uint32_t>(texts_.train.size())});
    order_epoch_ = epoch;
  }
  const std::uint64_t begin = number % steps_per_epoch() * options_.batch_size;
  const std::uint64_t end = std::min<std::uint64_t>(begin + options_.batch_size, order_.size());
  TokenBatch batch;
  std::vector<std::uint16_t> labels;
  for (std::uint64_t i = begin; i < end; ++i) {
    batch.add(texts_.train.text(order_[i]));
    labels.push_back(texts_.train.labels[order_[i]]);
  }
  return torch_call("training step", [&]() -> Result<StepReport> {
    const BertLoss loss =
        bert_.learn(batch, labels,
                    {.key = mix_seed({.a = options_.seed, .b = kDropping, .c = number}),
                     .rate = options_.drop_rate});
    update(number);
    return StepReport{.loss = loss.loss, .examples = labels.size(), .correct = loss.correct};
  });
}

Result<std::vector<float>> BertLearner::logits(const TokenBatch& texts) {
  return torch_call("classify texts",
                    [&]() -> Result<std::vector<float>> { return bert_.logits(texts); });
}

Result<Evaluation> BertLearner::evaluate() {
  Evaluation evaluation;
  OUTLAST_TRY(
      for_each_part(texts_.test, [&](const TokenBatch& batch, std::size_t first) -> Result<void> {
        OUTLAST_TRY_ASSIGN(const std::vector<float> rows, logits(batch));
        const auto labels = std::span(texts_.test.labels).subspan(first, batch.texts());
        const BertLoss loss = cross_entropy(rows, labels, nullptr);
        evaluation.loss += loss.loss * static_cast<double>(labels.size());
        evaluation.examples += labels.size();
        evaluation.correct += loss.correct;
        return {};
      }));
  if (evaluation.examples > 0) evaluation.loss /= static_cast<double>(evaluation.examples);
  return evaluation;
}

std::string BertLearner::label_name(std::size_t label) const {
  return label < options_.labels.size() ? options_.labels[label] : std::to_string(label);
}

Result<void> BertLearner::predict(const PredictionSink& sink) {
  const auto classes = static_cast<std::size_t>(options_.shape.classes);
  return for_each_part(
      texts_.asked, [&](const TokenBatch& batch, std::size_t first) -> Result<void> {
        OUTLAST_TRY_ASSIGN(const std::vector<float> rows, logits(batch));
        for (std::size_t i = 0; i < batch.texts(); ++i) {
          const auto row = std::span(rows).subspan(i * classes, classes);
          const auto largest = std::max_element(row.begin(), row.end());
          double sum = 0;
          for (const float logit : row) sum += std::exp(static_cast<double>(logit - *largest));
          const std::size_t number = first + i;
          const std::vector<std::uint16_t>& labels = texts_.asked.labels;
          OUTLAST_TRY(sink({.example = std::to_string(number + 1),
                            .label = label_name(static_cast<std::size_t>(largest - row.begin())),
                            .probability = 1 / sum,
                            .truth = number < labels.size() ? label_name(labels[number]) : ""}));
        }
        return {};
      });
}

Weights BertLearner::weights() const {
  return bert_weights(parameters_, values_.data());
}

Result<void> BertLearner::load(const Weights& weights) {
  return load_bert(parameters_, plain_state(weights), {.may_lack_head = options_.may_lack_head},
                   values_.data());
}

}  // namespace outlast::trainers
