#pragma once

#include <cstddef>
#include <cstdint>

// What a BERT does with rows of numbers besides products of matrices, in as few passes over memory
// as it takes. Pure functions on memory that the caller owns; none of them depends on how rows or
// columns are shared out among threads.
namespace outlast::trainers {

// Rows, or columns, from `begin` up to but without `end`.
struct Part {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Which numbers of a tensor are dropped: a pure function of the key and a number's position, so
// that a backward pass needs no mask to be kept. Nothing is dropped at rate 0.
struct Drop {
  std::uint64_t key = 0;
  float rate = 0;

  // The same rate by an unrelated key: for another tensor of the same step.
  Drop of(std::uint64_t place) const;
};

// Sets what is dropped in this part of a tensor to 0 and multiplies the rest by 1 / (1 - rate).
// The tensor begins at `from`; both may be the same.
void drop(const Drop& drop, const float* from, Part part, float* to);

// The weights of a LayerNorm. `width`, that of a row, is a multiple of 16.
struct Norm {
  const float* weight = nullptr;
  const float* bias = nullptr;
  std::int64_t width = 0;
};

// What its backward pass needs: for each row, what was taken from it and what it was multiplied by.
struct NormTape {
  float* mean = nullptr;
  float* scale = nullptr;
};

void normalise(const Norm& norm, const float* from, Part rows, const NormTape& tape, float* to);
// values = dropped values + residual, and that normalised.
struct Residual {
  Drop drop = {};
  const float* residual = nullptr;
  float* values = nullptr;
};
void add_and_normalise(const Norm& norm, const Residual& residual, Part rows, const NormTape& tape,
                       float* to);

// Gradients of normalise(): of what came in (`input` may be `output`) ...
struct NormGradient {
  const float* values = nullptr;  // what came in
  NormTape tape = {};
  const float* output = nullptr;  // gradient of what went out
};
void normalise_backward(const Norm& norm, const NormGradient& gradient, Part rows, float* input);
// ... and of the weights, for some columns over all rows.
struct NormWeights {
  float* weight = nullptr;
  float* bias = nullptr;
};
void normalise_backward_weights(const Norm& norm, const NormGradient& gradient, std::int64_t rows,
                                Part columns, const NormWeights& weights);

// Every row = bias.
void fill_rows(const float* bias, std::int64_t width, Part rows, float* to);
// to = sum of all rows, for some columns.
void sum_rows(const float* from, std::int64_t width, std::int64_t rows, Part columns, float* to);
// to += from.
void add_numbers(const float* from, std::int64_t count, float* to);

// A sum of squares in blocks of 4,096 numbers, which threads can share: those of `blocks`.
inline constexpr std::int64_t kSumBlock = 4096;
void sum_squares(const float* from, std::int64_t count, Part blocks, double* to);

struct AdamW {
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double gradient_scale = 1;
  std::uint64_t count = 1;  // how many updates there have been with this one
};
struct AdamWArrays {
  float* values = nullptr;
  const float* gradients = nullptr;
  float* mean = nullptr;
  float* variance = nullptr;
};
// One update of these numbers, as torch.optim.AdamW does it, in one pass.
void update_adamw(const AdamW& adamw, const AdamWArrays& arrays, Part part);

}  // namespace outlast::trainers
