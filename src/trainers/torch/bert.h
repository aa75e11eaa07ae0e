#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainers/torch/bert_layer.h"
#include "trainers/torch/bert_shape.h"
#include "trainers/torch/row_kernels.h"
#include "trainers/torch/workspace.h"

namespace outlast::trainers {

// Texts as numbers of tokens, end to end.
struct TokenBatch {
  std::vector<std::int32_t> tokens = {};
  std::vector<std::int64_t> begins = {0};  // of each text, and the end of the last

  void add(std::span<const std::int32_t> text) {
    tokens.insert(tokens.end(), text.begin(), text.end());
    begins.push_back(static_cast<std::int64_t>(tokens.size()));
  }
  std::size_t texts() const { return begins.size() - 1; }
};

struct BertLoss {
  double loss = 0;  // the mean over the batch
  std::uint64_t correct = 0;
};
// The cross entropy of logits, a row for each label, and its gradient, unless that is null. Of
// equal logits the first counts.
BertLoss cross_entropy(std::span<const float> logits, std::span<const std::uint16_t> labels,
                       float* gradient);

// Texts to classes: a BERT encoder, its pooler and a linear head, with the results of Hugging
// Face's BertForSequenceClassification. Its passes are written out rather than left to autograd:
// texts need no padding, what only padding or the last layer's unused rows would be is never
// computed, and gradients are written where they are used. Not copied. Confined to its owner.
class Bert {
 public:
  // As bert_parameters() lays them out. Both outlive this.
  struct Arrays {
    float* values = nullptr;
    float* gradients = nullptr;
  };
  Bert(const BertShape& shape, const Arrays& arrays);
  Bert(const Bert&) = delete;
  Bert& operator=(const Bert&) = delete;

  const BertShape& shape() const { return shape_; }

  // A row of shape().classes for each text, of which none is empty or longer than
  // shape().positions. Throws what libtorch throws, as learn() does.
  std::vector<float> logits(const TokenBatch& batch);

  // The same with what `drop` says dropped, and all gradients of the mean loss replaced. Nobody
  // else writes into the gradients, which are 0 at first.
  BertLoss learn(const TokenBatch& batch, std::span<const std::uint16_t> labels, const Drop& drop);

 private:
  struct Pass;
  void embed(Pass& pass);
  void embed_backward(Pass& pass);
  void run(Pass& pass);

  BertShape shape_;
  const float* words_ = nullptr;
  const float* positions_ = nullptr;
  const float* types_ = nullptr;
  float* word_gradients_ = nullptr;
  float* position_gradients_ = nullptr;
  float* type_gradients_ = nullptr;
  TrainedNorm norm_ = {};
  std::vector<BertLayer> layers_;
  Linear pooler_ = {};
  Linear classifier_ = {};
  Workspace workspace_;
  std::vector<std::int32_t> last_words_;  // whose gradients the last pass has left
};

}  // namespace outlast::trainers
