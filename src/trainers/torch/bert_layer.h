#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainers/torch/bert_shape.h"
#include "trainers/torch/row_kernels.h"
#include "trainers/torch/workspace.h"

namespace outlast::trainers {

// A linear map, its weights (to x from, row by row) and where their gradients go, which are
// replaced by every backward pass.
struct Linear {
  const float* weight = nullptr;
  const float* bias = nullptr;
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  std::int64_t from = 0;
  std::int64_t to = 0;
};
// output = input * weight^T + bias.
void apply(const Linear& linear, const float* input, std::int64_t rows, float* output);
// The weights' gradients, and those of the input, if asked for: added to what is there if `add`.
struct LinearGradient {
  const float* input = nullptr;
  const float* output = nullptr;  // its gradient
  float* to_input = nullptr;
  bool add = false;
};
void apply_backward(const Linear& linear, const LinearGradient& gradient, std::int64_t rows);

struct TrainedNorm {
  Norm norm = {};
  NormWeights gradients = {};
};
// As normalise_backward() and normalise_backward_weights(), by all threads.
void normalise_backward(const TrainedNorm& norm, const NormGradient& gradient, std::int64_t rows,
                        float* input);

// Where in the rows of a batch each text lies, and which of its rows are asked for.
struct TextRows {
  std::vector<std::int64_t> begins = {0};   // of each text, and the end of the last
  std::vector<std::int64_t> queries = {0};  // the same for the rows that are asked for
  std::vector<std::int64_t> scores = {0};   // the same for the attention's scores of all heads

  std::size_t texts() const { return begins.size() - 1; }
  std::int64_t rows() const { return begins.back(); }
  std::int64_t query_rows() const { return queries.back(); }
};
// Of texts with these lengths; `all`: every row is asked for, otherwise the first of each text.
TextRows text_rows(const std::vector<std::int64_t>& begins, const BertShape& shape, bool all);

struct BertLayer {
  BertShape shape = {};
  Linear query = {};
  Linear key = {};
  Linear value = {};
  Linear attention = {};
  TrainedNorm attention_norm = {};
  Linear intermediate = {};
  Linear output = {};
  TrainedNorm output_norm = {};
};

// What a layer's backward pass needs of its forward pass. Rows as wide as the model, unless said.
struct BertLayerTape {
  const float* input = nullptr;    // all rows: the result of the layer before
  const float* queried = nullptr;  // those of `input` that are asked for: itself, or `chosen`
  float* chosen = nullptr;
  float* query = nullptr;
  float* key = nullptr;
  float* value = nullptr;
  float* shares = nullptr;  // the attention's, after the softmax: TextRows::scores
  float* context = nullptr;
  float* attended = nullptr;  // before the norm
  NormTape attended_tape = {};
  float* middle = nullptr;   // after the norm
  float* raised = nullptr;   // before gelu, as wide as intermediate()
  float* bent = nullptr;     // after it
  float* lowered = nullptr;  // before the norm
  NormTape lowered_tape = {};
  float* result = nullptr;  // after it
};
BertLayerTape take_tape(const BertShape& shape, const TextRows& texts, Workspace& workspace);

// What the passes of all layers use one after the other.
struct BertScratch {
  float* dropped = nullptr;  // TextRows::scores
  float* shares = nullptr;   // TextRows::scores
  float* wide = nullptr;     // as wide as intermediate()
  float* dense = nullptr;    // as wide as the model, as all below
  float* context = nullptr;
  float* query = nullptr;
  float* key = nullptr;
  float* value = nullptr;
};
BertScratch take_scratch(const BertShape& shape, const TextRows& texts, Workspace& workspace);

// A layer, what it looks at, and the memory for that.
struct BertLayerPass {
  const BertLayer& layer;
  const TextRows& texts;
  const BertScratch& scratch;
  Drop drop = {};
};
// One layer over texts that lie end to end: no text sees another, and none is padded. Takes
// tape.input and leaves the rows that are asked for in tape.result.
void forward(const BertLayerPass& pass, BertLayerTape& tape);
// `result` is the gradient of tape.result, which is written over; `input` becomes that of
// tape.input. The two may be the same memory if all rows are asked for.
struct RowGradients {
  float* result = nullptr;
  float* input = nullptr;
};
void backward(const BertLayerPass& pass, const BertLayerTape& tape, const RowGradients& rows);

}  // namespace outlast::trainers
