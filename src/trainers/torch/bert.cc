#include "trainers/torch/bert.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace outlast::trainers {
namespace {

constexpr std::int64_t kRowsPerThread = 16;

// Places where something is dropped outside of the layers, which have those from 0 on.
constexpr std::uint64_t kEmbedded = 1U << 20U;
constexpr std::uint64_t kPooled = kEmbedded + 1;

// Hands out places in the arrays, in the order of bert_parameters().
class Places {
 public:
  Places(const BertShape& shape, const Bert::Arrays& arrays)
      : parameters_(bert_parameters(shape)), arrays_(arrays) {}

  struct Place {
    float* value = nullptr;
    float* gradient = nullptr;
  };
  Place next() {
    const std::size_t begin = parameters_.at(next_++).begin;
    return {.value = arrays_.values + begin, .gradient = arrays_.gradients + begin};
  }
  Linear linear(std::int64_t from, std::int64_t to) {
    const Place weight = next();
    const Place bias = next();
    return {.weight = weight.value,
            .bias = bias.value,
            .weight_gradient = weight.gradient,
            .bias_gradient = bias.gradient,
            .from = from,
            .to = to};
  }
  TrainedNorm norm(std::int64_t width) {
    const Place weight = next();
    const Place bias = next();
    return {.norm = {.weight = weight.value, .bias = bias.value, .width = width},
            .gradients = {.weight = weight.gradient, .bias = bias.gradient}};
  }
  bool at_end() const { return next_ == parameters_.size(); }

 private:
  std::vector<BertParameter> parameters_;
  Bert::Arrays arrays_;
  std::size_t next_ = 0;
};

}  // namespace

BertLoss cross_entropy(std::span<const float> logits, std::span<const std::uint16_t> labels,
                       float* gradient) {
  BertLoss result;
  if (labels.empty()) return result;
  const std::size_t classes = logits.size() / labels.size();
  const auto count = static_cast<double>(labels.size());
  for (std::size_t text = 0; text < labels.size(); ++text) {
    const std::span<const float> row = logits.subspan(text * classes, classes);
    const auto largest = std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float logit : row) sum += std::exp(static_cast<double>(logit - *largest));
    const std::size_t label = labels[text];
    result.loss += (std::log(sum) - static_cast<double>(row[label] - *largest)) / count;
    if (static_cast<std::size_t>(largest - row.begin()) == label) ++result.correct;
    for (std::size_t i = 0; gradient != nullptr && i < classes; ++i) {
      const double share = std::exp(static_cast<double>(row[i] - *largest)) / sum;
      gradient[text * classes + i] = static_cast<float>((share - (i == label ? 1 : 0)) / count);
    }
  }
  return result;
}

// All that one pass over a batch knows.
struct Bert::Pass {
  const TokenBatch& batch;
  Drop drop = {};
  bool keeps = false;  // what a backward pass needs

  TextRows all = {};    // of every layer but the last
  TextRows first = {};  // of the last, of which only the texts' first rows are used
  float* embedded = nullptr;
  NormTape embedded_tape = {};
  float* entry = nullptr;  // what the first layer gets
  std::vector<BertLayerTape> tapes = {};
  BertScratch scratch = {};
  float* pooled = nullptr;   // after tanh
  float* dropped = nullptr;  // after dropping
  float* logits = nullptr;

  std::int64_t texts() const { return static_cast<std::int64_t>(batch.texts()); }
};

Bert::Bert(const BertShape& shape, const Arrays& arrays) : shape_(shape) {
  Places places(shape, arrays);
  for (auto [value, gradient] : {std::pair{&words_, &word_gradients_},
                                 {&positions_, &position_gradients_},
                                 {&types_, &type_gradients_}}) {
    const Places::Place place = places.next();
    *value = place.value;
    *gradient = place.gradient;
  }
  norm_ = places.norm(shape.hidden);
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    BertLayer made{.shape = shape};
    made.query = places.linear(shape.hidden, shape.hidden);
    made.key = places.linear(shape.hidden, shape.hidden);
    made.value = places.linear(shape.hidden, shape.hidden);
    made.attention = places.linear(shape.hidden, shape.hidden);
    made.attention_norm = places.norm(shape.hidden);
    made.intermediate = places.linear(shape.hidden, shape.intermediate());
    made.output = places.linear(shape.intermediate(), shape.hidden);
    made.output_norm = places.norm(shape.hidden);
    layers_.push_back(made);
  }
  pooler_ = places.linear(shape.hidden, shape.hidden);
  classifier_ = places.linear(shape.hidden, shape.classes);
  OUTLAST_CHECK(places.at_end(), "{} layers", shape.layers);
}

void Bert::embed(Pass& pass) {
  const std::int64_t hidden = shape_.hidden;
  const std::vector<std::int64_t>& begins = pass.batch.begins;
  at::parallel_for(0, pass.texts(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t text = begin; text < end; ++text) {
      const std::int64_t first = begins[static_cast<std::size_t>(text)];
      const Part rows{.begin = first, .end = begins[static_cast<std::size_t>(text) + 1]};
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        float* to = pass.embedded + row * hidden;
        const std::int64_t word = pass.batch.tokens[static_cast<std::size_t>(row)];
        std::memcpy(to, words_ + word * hidden, static_cast<std::size_t>(hidden) * sizeof(float));
        add_numbers(positions_ + (row - first) * hidden, hidden, to);
        add_numbers(types_, hidden, to);
      }
      normalise(norm_.norm, pass.embedded, rows, pass.embedded_tape, pass.entry);
      drop(pass.drop.of(kEmbedded), pass.entry,
           {.begin = rows.begin * hidden, .end = rows.end * hidden}, pass.entry);
    }
  });
}

void Bert::run(Pass& pass) {
  workspace_.clear();
  pass.all = text_rows(pass.batch.begins, shape_, true);
  pass.first = text_rows(pass.batch.begins, shape_, false);
  const auto rows = static_cast<std::size_t>(pass.all.rows());
  const auto hidden = static_cast<std::size_t>(shape_.hidden);
  pass.embedded = workspace_.take(rows * hidden);
  pass.embedded_tape = {.mean = workspace_.take(rows), .scale = workspace_.take(rows)};
  pass.entry = workspace_.take(rows * hidden);
  pass.scratch = take_scratch(shape_, pass.all, workspace_);
  embed(pass);

  const float* input = pass.entry;
  for (std::size_t number = 0; number < layers_.size(); ++number) {
    const bool is_last = number + 1 == layers_.size();
    const TextRows& texts = is_last ? pass.first : pass.all;
    // Without a backward pass a layer needs the memory of the one before it, and no other.
    if (pass.keeps || is_last || number < 2) {
      pass.tapes.push_back(take_tape(shape_, texts, workspace_));
    } else {
      pass.tapes.push_back(pass.tapes[number - 2]);
    }
    BertLayerTape& tape = pass.tapes.back();
    tape.input = input;
    forward({.layer = layers_[number],
             .texts = texts,
             .scratch = pass.scratch,
             .drop = pass.drop.of(number)},
            tape);
    input = tape.result;
  }

  const auto texts = static_cast<std::size_t>(pass.texts());
  pass.pooled = workspace_.take(texts * hidden);
  pass.dropped = workspace_.take(texts * hidden);
  pass.logits = workspace_.take(texts * static_cast<std::size_t>(shape_.classes));
  apply(pooler_, input, pass.texts(), pass.pooled);
  for (std::size_t i = 0; i < texts * hidden; ++i) pass.pooled[i] = std::tanh(pass.pooled[i]);
  drop(pass.drop.of(kPooled), pass.pooled, {.end = pass.texts() * shape_.hidden}, pass.dropped);
  apply(classifier_, pass.dropped, pass.texts(), pass.logits);
}

void Bert::embed_backward(Pass& pass) {
  const std::int64_t hidden = shape_.hidden;
  const std::int64_t rows = pass.all.rows();
  float* gradient = pass.scratch.dense;
  drop(pass.drop.of(kEmbedded), gradient, {.end = rows * hidden}, gradient);
  normalise_backward(norm_,
                     {.values = pass.embedded, .tape = pass.embedded_tape, .output = gradient},
                     rows, gradient);
  const auto bytes = [hidden](std::int64_t count) {
    return static_cast<std::size_t>(count * hidden) * sizeof(float);
  };
  // Few words of a large vocabulary occur in a batch: to clear all would take as long as a layer.
  for (const std::int64_t word : last_words_) {
    std::memset(word_gradients_ + word * hidden, 0, bytes(1));
  }
  last_words_ = pass.batch.tokens;
  std::memset(position_gradients_, 0, bytes(shape_.positions));
  std::memset(type_gradients_, 0, bytes(shape_.token_types));
  for (std::size_t text = 0; text < pass.batch.texts(); ++text) {
    const std::int64_t first = pass.batch.begins[text];
    for (std::int64_t row = first; row < pass.batch.begins[text + 1]; ++row) {
      const float* from = gradient + row * hidden;
      const std::int64_t word = pass.batch.tokens[static_cast<std::size_t>(row)];
      add_numbers(from, hidden, word_gradients_ + word * hidden);
      add_numbers(from, hidden, position_gradients_ + (row - first) * hidden);
      add_numbers(from, hidden, type_gradients_);
    }
  }
}

std::vector<float> Bert::logits(const TokenBatch& batch) {
  if (batch.texts() == 0) return {};
  Pass pass{.batch = batch};
  run(pass);
  return {pass.logits, pass.logits + pass.texts() * shape_.classes};
}

BertLoss Bert::learn(const TokenBatch& batch, std::span<const std::uint16_t> labels,
                     const Drop& drop_rule) {
  OUTLAST_CHECK(labels.size() == batch.texts() && !labels.empty(), "{} labels of {} texts",
                labels.size(), batch.texts());
  Pass pass{.batch = batch, .drop = drop_rule, .keeps = true};
  run(pass);
  const std::size_t logits = labels.size() * static_cast<std::size_t>(shape_.classes);
  float* logit_gradient = workspace_.take(logits);
  const BertLoss loss = cross_entropy({pass.logits, logits}, labels, logit_gradient);

  const std::int64_t pooled_count = pass.texts() * shape_.hidden;
  float* pooled = workspace_.take(static_cast<std::size_t>(pooled_count));
  float* first_rows = workspace_.take(static_cast<std::size_t>(pooled_count));
  apply_backward(classifier_, {.input = pass.dropped, .output = logit_gradient, .to_input = pooled},
                 pass.texts());
  drop(pass.drop.of(kPooled), pooled, {.end = pooled_count}, pooled);
  for (std::int64_t i = 0; i < pooled_count; ++i) pooled[i] *= 1 - pass.pooled[i] * pass.pooled[i];
  apply_backward(pooler_,
                 {.input = pass.tapes.back().result, .output = pooled, .to_input = first_rows},
                 pass.texts());

  float* rows = workspace_.take(static_cast<std::size_t>(pass.all.rows() * shape_.hidden));
  for (std::size_t number = layers_.size(); number-- > 0;) {
    const bool is_last = number + 1 == layers_.size();
    backward({.layer = layers_[number],
              .texts = is_last ? pass.first : pass.all,
              .scratch = pass.scratch,
              .drop = pass.drop.of(number)},
             pass.tapes[number], {.result = is_last ? first_rows : rows, .input = rows});
  }
  std::memcpy(pass.scratch.dense, rows,
              static_cast<std::size_t>(pass.all.rows() * shape_.hidden) * sizeof(float));
  embed_backward(pass);
  return loss;
}

}  // namespace outlast::trainers
