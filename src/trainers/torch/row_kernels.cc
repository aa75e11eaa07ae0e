#include "trainers/torch/row_kernels.h"

#include <array>
#include <cmath>

// Each machine takes the widest form that it has.
#define OUTLAST_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))

namespace outlast::trainers {
namespace {

constexpr std::int64_t kLanes = 16;  // partial sums: the order of additions is fixed by them
constexpr float kEpsilon = 1e-12F;   // BERT's
using Lanes = std::array<float, kLanes>;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

// Multiplications of 32 bits, of which vector units do sixteen at once.
struct Mask {
  explicit Mask(const Drop& drop)
      : low(static_cast<std::uint32_t>(drop.key)),
        high(static_cast<std::uint32_t>(drop.key >> 32U)),
        threshold(static_cast<std::int32_t>(drop.rate * 0x1.0p24F)),
        scale(1.0F / (1.0F - drop.rate)) {}

  float factor(std::int64_t position) const {
    std::uint32_t bits = (static_cast<std::uint32_t>(position) ^ low) * 0x9e3779b1U;
    bits = ((bits ^ (bits >> 15U)) + high) * 0x85ebca77U;
    bits = (bits ^ (bits >> 13U)) * 0xc2b2ae3dU;
    const auto draw = static_cast<std::int32_t>((bits ^ (bits >> 16U)) >> 8U);
    return draw >= threshold ? scale : 0.0F;
  }

  std::uint32_t low;
  std::uint32_t high;
  std::int32_t threshold;
  float scale;
};

inline float sum_of(const Lanes& lanes) {
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

// The mean of a row, and one over its deviation.
inline void measure(const float* row, std::int64_t width, float& mean, float& scale) {
  Lanes lanes{};
  for (std::int64_t i = 0; i < width; i += kLanes) {
    for (std::int64_t j = 0; j < kLanes; ++j) lanes[static_cast<std::size_t>(j)] += row[i + j];
  }
  mean = sum_of(lanes) / static_cast<float>(width);
  lanes = {};
  for (std::int64_t i = 0; i < width; i += kLanes) {
    for (std::int64_t j = 0; j < kLanes; ++j) {
      const float off = row[i + j] - mean;
      lanes[static_cast<std::size_t>(j)] += off * off;
    }
  }
  scale = 1.0F / std::sqrt(sum_of(lanes) / static_cast<float>(width) + kEpsilon);
}

inline void normalise_row(const Norm& norm, const float* row, float& mean, float& scale,
                          float* to) {
  float row_mean = 0;
  float row_scale = 0;
  measure(row, norm.width, row_mean, row_scale);
  for (std::int64_t i = 0; i < norm.width; ++i) {
    to[i] = (row[i] - row_mean) * row_scale * norm.weight[i] + norm.bias[i];
  }
  mean = row_mean;
  scale = row_scale;
}

}  // namespace

Drop Drop::of(std::uint64_t place) const {
  return {.key = mix(key + mix(place + 0x9e3779b97f4a7c15ULL)), .rate = rate};
}

OUTLAST_WIDEST void drop(const Drop& drop, const float* from, Part part, float* to) {
  const Mask mask(drop);
  for (std::int64_t i = part.begin; i < part.end; ++i) to[i] = from[i] * mask.factor(i);
}

OUTLAST_WIDEST void normalise(const Norm& norm, const float* from, Part rows, const NormTape& tape,
                              float* to) {
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    normalise_row(norm, from + row * norm.width, tape.mean[row], tape.scale[row],
                  to + row * norm.width);
  }
}

OUTLAST_WIDEST void add_and_normalise(const Norm& norm, const Residual& residual, Part rows,
                                      const NormTape& tape, float* to) {
  const Mask mask(residual.drop);
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    const std::int64_t begin = row * norm.width;
    float* values = residual.values + begin;
    const float* other = residual.residual + begin;
    for (std::int64_t i = 0; i < norm.width; ++i) {
      values[i] = values[i] * mask.factor(begin + i) + other[i];
    }
    normalise_row(norm, values, tape.mean[row], tape.scale[row], to + begin);
  }
}

OUTLAST_WIDEST void normalise_backward(const Norm& norm, const NormGradient& gradient, Part rows,
                                       float* input) {
  const auto width = static_cast<float>(norm.width);
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    const float* values = gradient.values + row * norm.width;
    const float* output = gradient.output + row * norm.width;
    float* to = input + row * norm.width;
    const float mean = gradient.tape.mean[row];
    const float scale = gradient.tape.scale[row];
    Lanes sums{};
    Lanes products{};
    for (std::int64_t i = 0; i < norm.width; i += kLanes) {
      for (std::int64_t j = 0; j < kLanes; ++j) {
        const float weighted = output[i + j] * norm.weight[i + j];
        sums[static_cast<std::size_t>(j)] += weighted;
        products[static_cast<std::size_t>(j)] += weighted * ((values[i + j] - mean) * scale);
      }
    }
    const float sum = sum_of(sums) / width;
    const float product = sum_of(products) / width;
    for (std::int64_t i = 0; i < norm.width; ++i) {
      const float normal = (values[i] - mean) * scale;
      to[i] = scale * (output[i] * norm.weight[i] - sum - normal * product);
    }
  }
}

OUTLAST_WIDEST void normalise_backward_weights(const Norm& norm, const NormGradient& gradient,
                                               std::int64_t rows, Part columns,
                                               const NormWeights& weights) {
  float* weight = weights.weight;
  float* bias = weights.bias;
  for (std::int64_t i = columns.begin; i < columns.end; ++i) {
    weight[i] = 0;
    bias[i] = 0;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* values = gradient.values + row * norm.width;
    const float* output = gradient.output + row * norm.width;
    const float mean = gradient.tape.mean[row];
    const float scale = gradient.tape.scale[row];
    for (std::int64_t i = columns.begin; i < columns.end; ++i) {
      weight[i] += output[i] * ((values[i] - mean) * scale);
      bias[i] += output[i];
    }
  }
}

OUTLAST_WIDEST void fill_rows(const float* bias, std::int64_t width, Part rows, float* to) {
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    for (std::int64_t i = 0; i < width; ++i) to[row * width + i] = bias[i];
  }
}

OUTLAST_WIDEST void sum_rows(const float* from, std::int64_t width, std::int64_t rows, Part columns,
                             float* to) {
  for (std::int64_t i = columns.begin; i < columns.end; ++i) to[i] = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* values = from + row * width;
    for (std::int64_t i = columns.begin; i < columns.end; ++i) to[i] += values[i];
  }
}

OUTLAST_WIDEST void add_numbers(const float* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

OUTLAST_WIDEST void sum_squares(const float* from, std::int64_t count, Part blocks, double* to) {
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
    const std::int64_t begin = block * kSumBlock;
    const std::int64_t end = begin + kSumBlock < count ? begin + kSumBlock : count;
    Lanes lanes{};
    std::int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::int64_t j = 0; j < kLanes; ++j) {
        lanes[static_cast<std::size_t>(j)] += from[i + j] * from[i + j];
      }
    }
    double sum = 0;
    for (const float lane : lanes) sum += static_cast<double>(lane);
    for (; i < end; ++i) sum += static_cast<double>(from[i] * from[i]);
    to[block] = sum;
  }
}

OUTLAST_WIDEST void update_adamw(const AdamW& adamw, const AdamWArrays& arrays, Part part) {
  const auto count = static_cast<double>(adamw.count);
  const double mean_bias = 1 - std::pow(adamw.beta1, count);
  const double variance_bias = 1 - std::pow(adamw.beta2, count);
  const auto keep = static_cast<float>(1 - adamw.learning_rate * adamw.weight_decay);
  const auto rate = static_cast<float>(adamw.learning_rate / mean_bias);
  const auto root = static_cast<float>(1 / std::sqrt(variance_bias));
  const auto epsilon = static_cast<float>(adamw.epsilon);
  const auto beta1 = static_cast<float>(adamw.beta1);
  const auto beta2 = static_cast<float>(adamw.beta2);
  const auto other1 = static_cast<float>(1 - adamw.beta1);
  const auto other2 = static_cast<float>(1 - adamw.beta2);
  const auto scale = static_cast<float>(adamw.gradient_scale);
  float* __restrict values = arrays.values;
  const float* __restrict gradients = arrays.gradients;
  float* __restrict mean = arrays.mean;
  float* __restrict variance = arrays.variance;
  for (std::int64_t i = part.begin; i < part.end; ++i) {
    const float gradient = gradients[i] * scale;
    const float new_mean = beta1 * mean[i] + other1 * gradient;
    const float new_variance = beta2 * variance[i] + other2 * gradient * gradient;
    mean[i] = new_mean;
    variance[i] = new_variance;
    values[i] = values[i] * keep - rate * new_mean / (std::sqrt(new_variance) * root + epsilon);
  }
}

}  // namespace outlast::trainers
