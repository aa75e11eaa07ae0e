#include "trainers/fused/cnn.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "sys/threads.h"
#include "trainers/fused/cnn_layout.h"
#include "trainers/fused/kernels.h"

namespace outlast::trainers::fused {
namespace {

// A batch is cut into parts of this size, whoever computes them: sums are then always formed in the
// same order.
constexpr std::size_t kPart = 32;

std::size_t parts_of(std::size_t count) {
  return std::max<std::size_t>(up_to(count, kPart) / kPart, 1);
}

Batch part_of(const Batch& batch, std::size_t part) {
  const std::size_t first = part * kPart;
  return {.pictures = batch.pictures + first,
          .labels = batch.labels == nullptr ? nullptr : batch.labels + first,
          .count = std::min(kPart, batch.count - first),
          .channels = batch.channels};
}

// 1 - base^step, by products: the C library's pow() may differ in the last bit.
float bias_of(double base, std::uint64_t step) {
  double power = 1;
  double square = base;
  for (std::uint64_t rest = step; rest > 0; rest /= 2, square *= square) {
    if (rest % 2 == 1) power *= square;
  }
  return static_cast<float>(1 - power);
}

}  // namespace

Cnn::Cnn(const CnnShape& shape, sys::Threads& threads, unsigned workers, const Kernels& kernels)
    : shape_(shape),
      layout_{.classes = shape.classes},
      kernels_(kernels),
      parameters_(layout_.floats),
      first_moment_(layout_.floats),
      second_moment_(layout_.floats),
      crew_(threads, workers) {
  OUTLAST_CHECK(shape.channels == 1 || shape.channels == 3, "{} channels", shape.channels);
  OUTLAST_CHECK(shape.classes >= 2 && shape.classes <= kClassesMax, "{} classes", shape.classes);
  gradients_.emplace_back(layout_.floats);
  for (unsigned worker = 0; worker < crew_.workers(); ++worker) {
    scratch_.emplace_back(kScratchFloats);
  }
}

void Cnn::draw_parameters(std::uint64_t seed) {
  Random random(seed);
  std::size_t inputs = 1;
  for (const CnnTensor& tensor : cnn_tensors(shape_)) {
    // A bias follows its weights, and is drawn from the same range.
    if (tensor.shape.size() > 1) inputs = tensor.places.size() / tensor.shape[0];
    const double range = 1 / std::sqrt(static_cast<double>(inputs));
    for (const std::uint32_t place : tensor.places) {
      parameters_.data()[place] = static_cast<float>((2 * random.unit() - 1) * range);
    }
  }
}

BatchResult Cnn::gradients(const Batch& batch) {
  OUTLAST_CHECK(batch.count > 0 && batch.channels == shape_.channels, "{} pictures of {} channels",
                batch.count, batch.channels);
  const std::size_t parts = parts_of(batch.count);
  while (gradients_.size() < parts) gradients_.emplace_back(layout_.floats);
  std::vector<BatchResult> results(parts);
  const float scale = 1.0F / static_cast<float>(batch.count);
  crew_.run(parts, [&](std::size_t part, std::size_t worker) {
    results[part] = kernels_.learn(layout_, parameters_.data(), part_of(batch, part), scale, false,
                                   gradients_[part].data(), scratch_[worker].data());
  });
  BatchResult sum;
  for (std::size_t part = 0; part < parts; ++part) {
    sum.loss += results[part].loss;
    sum.correct += results[part].correct;
    if (part > 0) {
      kernels_.add(gradients_.front().data(), gradients_[part].data(), layout_.floats);
    }
  }
  return sum;
}

BatchResult Cnn::learn(const Batch& batch, const Update& update) {
  const BatchResult result = gradients(batch);
  float* parameters = parameters_.data();
  const float* gradient = gradients_.front().data();
  if (update.rule == Update::Rule::kSgd) {
    kernels_.sgd(parameters, first_moment_.data(), gradient, layout_.floats,
                 {.learning_rate = update.learning_rate,
                  .momentum = update.momentum,
                  .weight_decay = update.weight_decay});
  } else {
    kernels_.adam(parameters, first_moment_.data(), second_moment_.data(), gradient, layout_.floats,
                  {.learning_rate = update.learning_rate,
                   .first_bias = bias_of(0.9, update.step),
                   .second_bias = bias_of(0.999, update.step),
                   .weight_decay = update.weight_decay,
                   .decoupled = update.rule == Update::Rule::kAdamW});
  }
  return result;
}

std::vector<float> Cnn::infer(const Batch& batch) {
  std::vector<float> logits(batch.count * shape_.classes);
  crew_.run(parts_of(batch.count), [&](std::size_t part, std::size_t worker) {
    kernels_.infer(layout_, parameters_.data(), part_of(batch, part),
                   logits.data() + part * kPart * shape_.classes, scratch_[worker].data());
  });
  return logits;
}

}  // namespace outlast::trainers::fused
