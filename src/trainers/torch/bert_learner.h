#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainers/learner.h"
#include "trainers/schedule.h"
#include "trainers/torch/bert.h"
#include "trainers/torch/bert_shape.h"

namespace outlast::trainers {

// Texts as numbers of tokens, with their classes. A value.
struct TokenSet {
  TokenBatch texts = {};
  std::vector<std::uint16_t> labels = {};  // empty where they are not known

  std::size_t size() const { return texts.texts(); }
  std::span<const std::int32_t> text(std::size_t number) const;
};

struct BertLearnerOptions {
  BertShape shape = {};
  std::uint64_t seed = 0;
  std::uint64_t batch_size = 8;
  double learning_rate = 5e-5;
  double weight_decay = 0.01;
  double gradient_norm_max = 1;  // longer gradients are shortened to it
  float drop_rate = 0.1F;
  Schedule schedule = {};
  std::uint64_t steps = 0;               // in all: what the schedule ends at
  bool may_lack_head = true;             // as BertLoading
  std::vector<std::string> labels = {};  // names of the classes; their numbers if empty
};

// Learns to put texts into classes, by AdamW, as Hugging Face's trainer does: weight decay on all
// but biases and norms, and gradients clipped by their norm.
class BertLearner : public Learner {
 public:
  // `asked` is what predict() tells of: no labels, or all.
  struct Texts {
    TokenSet train = {};
    TokenSet test = {};
    TokenSet asked = {};
  };
  BertLearner(const BertLearnerOptions& options, Texts texts);

  std::uint64_t steps_per_epoch() const;

  void describe(Snapshots& snapshots) override;
  Result<StepReport> step(std::uint64_t number) override;
  Result<Evaluation> evaluate() override;
  Result<void> predict(const PredictionSink& sink) override;
  Weights weights() const override;
  Result<void> load(const Weights& weights) override;

  // Of some texts, a row for each.
  Result<std::vector<float>> logits(const TokenBatch& texts);

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  // Zeroes that take no memory before they are written, from a multiple of 64 bytes on.
  class Array {
   public:
    explicit Array(std::size_t count);
    float* data() const { return data_; }

   private:
    std::unique_ptr<float, Free> memory_;
    float* data_ = nullptr;
  };

  double gradient_norm() const;
  void update(std::uint64_t number);
  std::string label_name(std::size_t label) const;

  BertLearnerOptions options_;
  Texts texts_;
  std::vector<BertParameter> parameters_;
  std::size_t array_size_;
  Array values_;
  Array gradients_;
  Array mean_;
  Array variance_;
  Bert bert_;
  std::uint64_t order_epoch_ = ~std::uint64_t{0};  // that order_ is of
  std::vector<std::uint32_t> order_;
};

}  // namespace outlast::trainers
