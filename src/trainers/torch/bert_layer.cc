#include "trainers/torch/bert_layer.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <cstring>

#include "trainers/torch/product.h"
#include "trainers/torch/torch_headers.h"

namespace outlast::trainers {
namespace {

// Places where a layer drops: Drop::of().
enum Place : std::uint64_t { kShares = 1, kAttended = 2, kLowered = 3 };

constexpr std::int64_t kRowsAtOnce = 16;
constexpr std::int64_t kColumnsAtOnce = 64;
constexpr std::int64_t kNumbersAtOnce = 1 << 14;

torch::Tensor tensor_of(float* data, std::initializer_list<std::int64_t> sizes) {
  return torch::from_blob(data, torch::IntArrayRef(sizes), torch::kFloat32);
}

// The part of the attention that one head does for one text.
struct Pair {
  std::int64_t rows = 0;     // of the text
  std::int64_t queries = 0;  // of those that are asked for
  std::int64_t row_at = 0;   // where the head's part of the text's first row begins
  std::int64_t query_at = 0;
  std::int64_t score_at = 0;
};

Pair pair_of(const BertLayerPass& pass, std::int64_t number) {
  const BertShape& shape = pass.layer.shape;
  const auto text = static_cast<std::size_t>(number / shape.heads);
  const std::int64_t head = number % shape.heads;
  const TextRows& texts = pass.texts;
  const std::int64_t rows = texts.begins[text + 1] - texts.begins[text];
  const std::int64_t queries = texts.queries[text + 1] - texts.queries[text];
  return {.rows = rows,
          .queries = queries,
          .row_at = texts.begins[text] * shape.hidden + head * shape.head_size(),
          .query_at = texts.queries[text] * shape.hidden + head * shape.head_size(),
          .score_at = texts.scores[text] + head * queries * rows};
}

template <class Work>
void for_each_pair(const BertLayerPass& pass, const Work& work) {
  const auto pairs = static_cast<std::int64_t>(pass.texts.texts()) * pass.layer.shape.heads;
  at::parallel_for(0, pairs, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t number = begin; number < end; ++number) work(pair_of(pass, number));
  });
}

void drop_all(const Drop& drop_rule, const float* from, std::int64_t count, float* to) {
  at::parallel_for(0, count, kNumbersAtOnce, [&](std::int64_t begin, std::int64_t end) {
    drop(drop_rule, from, {.begin = begin, .end = end}, to);
  });
}

float score_scale(const BertShape& shape) {
  return 1.0F / std::sqrt(static_cast<float>(shape.head_size()));
}

// The softmax of every text's scores, in place; or its backward pass, if there are gradients.
void soften(const BertLayerPass& pass, float* scores) {
  for (std::size_t text = 0; text < pass.texts.texts(); ++text) {
    const Pair pair = pair_of(pass, static_cast<std::int64_t>(text) * pass.layer.shape.heads);
    torch::Tensor part =
        tensor_of(scores + pair.score_at, {pass.layer.shape.heads * pair.queries, pair.rows});
    at::_softmax_out(part, part, -1, false);
  }
}

void soften_backward(const BertLayerPass& pass, float* shares, float* gradient) {
  for (std::size_t text = 0; text < pass.texts.texts(); ++text) {
    const Pair pair = pair_of(pass, static_cast<std::int64_t>(text) * pass.layer.shape.heads);
    const std::int64_t rows = pass.layer.shape.heads * pair.queries;
    torch::Tensor part = tensor_of(gradient + pair.score_at, {rows, pair.rows});
    at::_softmax_backward_data_out(part, part, tensor_of(shares + pair.score_at, {rows, pair.rows}),
                                   -1, torch::kFloat32);
  }
}

void attend(const BertLayerPass& pass, BertLayerTape& tape) {
  const BertShape& shape = pass.layer.shape;
  for_each_pair(pass, [&](const Pair& pair) {
    multiply({.data = tape.query + pair.query_at, .stride = shape.hidden},
             {.data = tape.key + pair.row_at, .stride = shape.hidden, .transposed = true},
             {.rows = pair.queries,
              .columns = pair.rows,
              .inner = shape.head_size(),
              .scale = score_scale(shape)},
             {.data = tape.shares + pair.score_at, .stride = pair.rows});
  });
  soften(pass, tape.shares);
  const float* shares = tape.shares;
  if (pass.drop.rate > 0) {
    drop_all(pass.drop.of(kShares), tape.shares, pass.texts.scores.back(), pass.scratch.dropped);
    shares = pass.scratch.dropped;
  }
  for_each_pair(pass, [&](const Pair& pair) {
    multiply({.data = shares + pair.score_at, .stride = pair.rows},
             {.data = tape.value + pair.row_at, .stride = shape.hidden},
             {.rows = pair.queries, .columns = shape.head_size(), .inner = pair.rows},
             {.data = tape.context + pair.query_at, .stride = shape.hidden});
  });
}

// From scratch.context to scratch.query, key and value.
void attend_backward(const BertLayerPass& pass, const BertLayerTape& tape) {
  const BertShape& shape = pass.layer.shape;
  const BertScratch& scratch = pass.scratch;
  const std::int64_t scores = pass.texts.scores.back();
  const float* shares = tape.shares;
  if (pass.drop.rate > 0) {
    drop_all(pass.drop.of(kShares), tape.shares, scores, scratch.dropped);
    shares = scratch.dropped;
  }
  for_each_pair(pass, [&](const Pair& pair) {
    multiply({.data = shares + pair.score_at, .stride = pair.rows, .transposed = true},
             {.data = scratch.context + pair.query_at, .stride = shape.hidden},
             {.rows = pair.rows, .columns = shape.head_size(), .inner = pair.queries},
             {.data = scratch.value + pair.row_at, .stride = shape.hidden});
    multiply({.data = scratch.context + pair.query_at, .stride = shape.hidden},
             {.data = tape.value + pair.row_at, .stride = shape.hidden, .transposed = true},
             {.rows = pair.queries, .columns = pair.rows, .inner = shape.head_size()},
             {.data = scratch.shares + pair.score_at, .stride = pair.rows});
  });
  if (pass.drop.rate > 0) {
    drop_all(pass.drop.of(kShares), scratch.shares, scores, scratch.shares);
  }
  soften_backward(pass, tape.shares, scratch.shares);
  for_each_pair(pass, [&](const Pair& pair) {
    multiply({.data = scratch.shares + pair.score_at, .stride = pair.rows},
             {.data = tape.key + pair.row_at, .stride = shape.hidden},
             {.rows = pair.queries,
              .columns = shape.head_size(),
              .inner = pair.rows,
              .scale = score_scale(shape)},
             {.data = scratch.query + pair.query_at, .stride = shape.hidden});
    multiply({.data = scratch.shares + pair.score_at, .stride = pair.rows, .transposed = true},
             {.data = tape.query + pair.query_at, .stride = shape.hidden},
             {.rows = pair.rows,
              .columns = shape.head_size(),
              .inner = pair.queries,
              .scale = score_scale(shape)},
             {.data = scratch.key + pair.row_at, .stride = shape.hidden});
  });
}

void add_norm(const TrainedNorm& norm, const Residual& residual, std::int64_t rows,
              const NormTape& tape, float* to) {
  at::parallel_for(0, rows, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    add_and_normalise(norm.norm, residual, {.begin = begin, .end = end}, tape, to);
  });
}

}  // namespace

void apply(const Linear& linear, const float* input, std::int64_t rows, float* output) {
  at::parallel_for(0, rows, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    fill_rows(linear.bias, linear.to, {.begin = begin, .end = end}, output);
  });
  multiply({.data = input, .stride = linear.from},
           {.data = linear.weight, .stride = linear.from, .transposed = true},
           {.rows = rows, .columns = linear.to, .inner = linear.from},
           {.data = output, .stride = linear.to, .add = true});
}

void apply_backward(const Linear& linear, const LinearGradient& gradient, std::int64_t rows) {
  multiply({.data = gradient.output, .stride = linear.to, .transposed = true},
           {.data = gradient.input, .stride = linear.from},
           {.rows = linear.to, .columns = linear.from, .inner = rows},
           {.data = linear.weight_gradient, .stride = linear.from});
  at::parallel_for(0, linear.to, kColumnsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    sum_rows(gradient.output, linear.to, rows, {.begin = begin, .end = end}, linear.bias_gradient);
  });
  if (gradient.to_input == nullptr) return;
  multiply({.data = gradient.output, .stride = linear.to},
           {.data = linear.weight, .stride = linear.from},
           {.rows = rows, .columns = linear.from, .inner = linear.to},
           {.data = gradient.to_input, .stride = linear.from, .add = gradient.add});
}

void normalise_backward(const TrainedNorm& norm, const NormGradient& gradient, std::int64_t rows,
                        float* input) {
  at::parallel_for(0, norm.norm.width, kColumnsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    normalise_backward_weights(norm.norm, gradient, rows, {.begin = begin, .end = end},
                               norm.gradients);
  });
  at::parallel_for(0, rows, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    normalise_backward(norm.norm, gradient, {.begin = begin, .end = end}, input);
  });
}

TextRows text_rows(const std::vector<std::int64_t>& begins, const BertShape& shape, bool all) {
  TextRows rows{.begins = begins};
  for (std::size_t text = 0; text + 1 < begins.size(); ++text) {
    const std::int64_t length = begins[text + 1] - begins[text];
    const std::int64_t queries = all ? length : 1;
    rows.queries.push_back(rows.queries.back() + queries);
    rows.scores.push_back(rows.scores.back() + shape.heads * queries * length);
  }
  return rows;
}

BertLayerTape take_tape(const BertShape& shape, const TextRows& texts, Workspace& workspace) {
  const auto take = [&workspace](std::int64_t rows, std::int64_t width) {
    return workspace.take(static_cast<std::size_t>(rows * width));
  };
  const std::int64_t rows = texts.rows();
  const std::int64_t queries = texts.query_rows();
  BertLayerTape tape;
  if (queries != rows) tape.chosen = take(queries, shape.hidden);
  tape.query = take(queries, shape.hidden);
  tape.key = take(rows, shape.hidden);
  tape.value = take(rows, shape.hidden);
  tape.shares = take(texts.scores.back(), 1);
  tape.context = take(queries, shape.hidden);
  tape.attended = take(queries, shape.hidden);
  tape.attended_tape = {.mean = take(queries, 1), .scale = take(queries, 1)};
  tape.middle = take(queries, shape.hidden);
  tape.raised = take(queries, shape.intermediate());
  tape.bent = take(queries, shape.intermediate());
  tape.lowered = take(queries, shape.hidden);
  tape.lowered_tape = {.mean = take(queries, 1), .scale = take(queries, 1)};
  tape.result = take(queries, shape.hidden);
  return tape;
}

BertScratch take_scratch(const BertShape& shape, const TextRows& texts, Workspace& workspace) {
  const auto rows = static_cast<std::size_t>(texts.rows());
  const auto scores = static_cast<std::size_t>(texts.scores.back());
  const std::size_t size = rows * static_cast<std::size_t>(shape.hidden);
  BertScratch scratch;
  scratch.dropped = workspace.take(scores);
  scratch.shares = workspace.take(scores);
  scratch.wide = workspace.take(rows * static_cast<std::size_t>(shape.intermediate()));
  scratch.dense = workspace.take(size);
  scratch.context = workspace.take(size);
  scratch.query = workspace.take(size);
  scratch.key = workspace.take(size);
  scratch.value = workspace.take(size);
  return scratch;
}

void forward(const BertLayerPass& pass, BertLayerTape& tape) {
  const BertLayer& layer = pass.layer;
  const std::int64_t hidden = layer.shape.hidden;
  const std::int64_t rows = pass.texts.rows();
  const std::int64_t queries = pass.texts.query_rows();
  tape.queried = tape.input;
  if (queries != rows) {
    for (std::size_t text = 0; text < pass.texts.texts(); ++text) {
      std::memcpy(tape.chosen + static_cast<std::int64_t>(text) * hidden,
                  tape.input + pass.texts.begins[text] * hidden,
                  static_cast<std::size_t>(hidden) * sizeof(float));
    }
    tape.queried = tape.chosen;
  }
  apply(layer.query, tape.queried, queries, tape.query);
  apply(layer.key, tape.input, rows, tape.key);
  apply(layer.value, tape.input, rows, tape.value);
  attend(pass, tape);
  apply(layer.attention, tape.context, queries, tape.attended);
  add_norm(layer.attention_norm,
           {.drop = pass.drop.of(kAttended), .residual = tape.queried, .values = tape.attended},
           queries, tape.attended_tape, tape.middle);
  apply(layer.intermediate, tape.middle, queries, tape.raised);
  torch::Tensor bent = tensor_of(tape.bent, {queries, layer.shape.intermediate()});
  at::gelu_out(bent, tensor_of(tape.raised, {queries, layer.shape.intermediate()}));
  apply(layer.output, tape.bent, queries, tape.lowered);
  add_norm(layer.output_norm,
           {.drop = pass.drop.of(kLowered), .residual = tape.middle, .values = tape.lowered},
           queries, tape.lowered_tape, tape.result);
}

void backward(const BertLayerPass& pass, const BertLayerTape& tape, const RowGradients& rows_of) {
  const BertLayer& layer = pass.layer;
  const BertScratch& scratch = pass.scratch;
  const std::int64_t hidden = layer.shape.hidden;
  const std::int64_t rows = pass.texts.rows();
  const std::int64_t queries = pass.texts.query_rows();
  float* gradient = rows_of.result;

  normalise_backward(layer.output_norm,
                     {.values = tape.lowered, .tape = tape.lowered_tape, .output = gradient},
                     queries, gradient);
  drop_all(pass.drop.of(kLowered), gradient, queries * hidden, scratch.dense);
  apply_backward(layer.output,
                 {.input = tape.bent, .output = scratch.dense, .to_input = scratch.wide}, queries);
  torch::Tensor wide = tensor_of(scratch.wide, {queries, layer.shape.intermediate()});
  at::gelu_backward_out(wide, wide, tensor_of(tape.raised, {queries, layer.shape.intermediate()}));
  apply_backward(layer.intermediate,
                 {.input = tape.middle, .output = scratch.wide, .to_input = gradient, .add = true},
                 queries);

  normalise_backward(layer.attention_norm,
                     {.values = tape.attended, .tape = tape.attended_tape, .output = gradient},
                     queries, gradient);
  drop_all(pass.drop.of(kAttended), gradient, queries * hidden, scratch.dense);
  apply_backward(layer.attention,
                 {.input = tape.context, .output = scratch.dense, .to_input = scratch.context},
                 queries);
  attend_backward(pass, tape);
  apply_backward(
      layer.query,
      {.input = tape.queried, .output = scratch.query, .to_input = gradient, .add = true}, queries);
  // With all rows asked for, `gradient` is of these rows already; else they begin with this.
  const bool same_rows = queries == rows;
  float* input = same_rows ? gradient : rows_of.input;
  apply_backward(layer.key,
                 {.input = tape.input, .output = scratch.key, .to_input = input, .add = same_rows},
                 rows);
  apply_backward(layer.value,
                 {.input = tape.input, .output = scratch.value, .to_input = input, .add = true},
                 rows);
  for (std::size_t text = 0; !same_rows && text < pass.texts.texts(); ++text) {
    add_numbers(gradient + static_cast<std::int64_t>(text) * hidden, hidden,
                input + pass.texts.begins[text] * hidden);
  }
  if (input != rows_of.input) {
    std::memcpy(rows_of.input, input, static_cast<std::size_t>(rows * hidden) * sizeof(float));
  }
}

}  // namespace outlast::trainers
