#pragma once

#include <cstddef>
#include <cstdint>

#include "trainers/fused/cnn_layout.h"
#include "trainers/fused/conv1.h"
#include "trainers/fused/conv2.h"
#include "trainers/fused/cross_entropy.h"
#include "trainers/fused/dense.h"
#include "trainers/fused/kernels.h"
#include "trainers/fused/lanes.h"
#include "trainers/fused/picture.h"

// What kernels_*.cc have in common: all of it. Each compiles it for its own processor.
namespace outlast::trainers::fused {
namespace {

// Of one picture, between its ways there and back.
struct Maps {
  alignas(64) float pool1[kPool1Values + 16];
  alignas(64) std::int32_t windows1[kPool1Values];
  alignas(64) std::int32_t windows2[kDense1In];

  Pool1 first() { return {pool1, windows1}; }
};

// Of one thread; too large for a stack.
struct Scratch {
  alignas(64) float halves[kHalvesFloats];
  alignas(64) float pixels[kPixelsFloats];
  alignas(64) float conv1[up_to(kConv1Taps, 16)];
  alignas(64) float conv2[kConv2Taps];
  alignas(64) float pool1_gradient[kPool1Values + 16];
  Maps maps[kGroup];
  alignas(64) float dense1_in[kGroup * kDense1In];
  alignas(64) float dense2_in[kGroup * kDense2In];
  alignas(64) float dense3_in[kGroup * kDense3In];
  alignas(64) float dense1_gradient[kGroup * kDense1In];
  alignas(64) float dense2_gradient[kGroup * kDense2In];
  alignas(64) float dense3_gradient[kGroup * kDense3In];
  alignas(64) float logits[kGroup * kClassesMax];
  alignas(64) float logits_gradient[kGroup * kClassesMax];
};
static_assert(sizeof(Scratch) <= kScratchFloats * sizeof(float));

struct Layers {
  Dense dense1;
  Dense dense2;
  Dense dense3;
};

inline Layers layers_of(const CnnLayout& at, const float* parameters) {
  return {
      {parameters + at.dense1, parameters + at.dense1_bias, kDense1In, kDense1, kDense2In},
      {parameters + at.dense2, parameters + at.dense2_bias, kDense2In, kDense2, kDense3In},
      {parameters + at.dense3, parameters + at.dense3_bias, kDense3In, at.class_rows, kClassesMax}};
}

inline void prepare(const CnnLayout& at, const float* parameters, Scratch& scratch) {
  order_conv1(parameters + at.conv1, scratch.conv1);
  order_conv2(parameters + at.conv2, scratch.conv2);
  for (float& value : scratch.dense2_in) value = 0;
  for (float& value : scratch.dense3_in) value = 0;
}

// From pictures to logits.
inline void go_forward(const CnnLayout& at, const float* parameters, const Batch& group,
                       Scratch& scratch) {
  Group pictures;
  for (std::size_t i = 0; i < kGroup; ++i) {
    pictures.pictures[i] = group.pictures[i < group.count ? i : 0];
  }
  group_to_halves(pictures, group.channels, scratch.halves);
  conv1_forward(scratch.halves, group.channels, scratch.conv1, parameters + at.conv1_bias,
                {scratch.maps[0].first(), scratch.maps[1].first(), scratch.maps[2].first(),
                 scratch.maps[3].first()});
  for (std::size_t i = 0; i < group.count; ++i) {
    Maps& maps = scratch.maps[i];
    conv2_forward(maps.pool1, scratch.conv2, parameters + at.conv2_bias,
                  {scratch.dense1_in + i * kDense1In, maps.windows2});
  }
  const Layers layers = layers_of(at, parameters);
  dense_forward(layers.dense1, scratch.dense1_in, group.count, true, scratch.dense2_in);
  dense_forward(layers.dense2, scratch.dense2_in, group.count, true, scratch.dense3_in);
  dense_forward(layers.dense3, scratch.dense3_in, group.count, false, scratch.logits);
}

// From the logits' gradients to those of all parameters.
inline void go_back(const CnnLayout& at, const float* parameters, const Batch& group, bool adds,
                    float* gradient, Scratch& scratch) {
  const Layers layers = layers_of(at, parameters);
  dense_backward(layers.dense3, scratch.dense3_in, scratch.logits_gradient, group.count,
                 {gradient + at.dense3, gradient + at.dense3_bias, scratch.dense3_gradient, adds});
  rectify_gradient(scratch.dense3_in, group.count * kDense3In, scratch.dense3_gradient);
  dense_backward(layers.dense2, scratch.dense2_in, scratch.dense3_gradient, group.count,
                 {gradient + at.dense2, gradient + at.dense2_bias, scratch.dense2_gradient, adds});
  rectify_gradient(scratch.dense2_in, group.count * kDense2In, scratch.dense2_gradient);
  dense_backward(layers.dense1, scratch.dense1_in, scratch.dense2_gradient, group.count,
                 {gradient + at.dense1, gradient + at.dense1_bias, scratch.dense1_gradient, adds});
  rectify_gradient(scratch.dense1_in, group.count * kDense1In, scratch.dense1_gradient);
  for (std::size_t i = 0; i < group.count; ++i) {
    Maps& maps = scratch.maps[i];
    for (float& value : scratch.pool1_gradient) value = 0;
    conv2_backward(maps.pool1, parameters + at.conv2,
                   {scratch.dense1_in + i * kDense1In, maps.windows2},
                   scratch.dense1_gradient + i * kDense1In, gradient + at.conv2,
                   gradient + at.conv2_bias, scratch.pool1_gradient);
    rectify_gradient(maps.pool1, kPool1Values, scratch.pool1_gradient);
    picture_to_pixels(group.pictures[i], group.channels, scratch.pixels);
    conv1_backward(scratch.pixels, maps.first(), scratch.pool1_gradient, gradient + at.conv1,
                   gradient + at.conv1_bias);
  }
}

inline Batch group_of(const Batch& batch, std::size_t first) {
  const std::size_t left = batch.count - first;
  return {batch.pictures + first, batch.labels == nullptr ? nullptr : batch.labels + first,
          left < kGroup ? left : kGroup, batch.channels};
}

BatchResult learn(const CnnLayout& layout, const float* parameters, const Batch& batch, float scale,
                  bool adds, float* gradient, float* scratch_floats) {
  Scratch& scratch = *reinterpret_cast<Scratch*>(scratch_floats);
  prepare(layout, parameters, scratch);
  if (!adds) {
    for (std::size_t i = 0; i < layout.dense1; ++i) gradient[i] = 0;  // of the convolutions
  }
  BatchResult result;
  for (std::size_t first = 0; first < batch.count; first += kGroup) {
    const Batch group = group_of(batch, first);
    go_forward(layout, parameters, group, scratch);
    for (std::size_t i = 0; i < group.count; ++i) {
      float* logits_gradient = scratch.logits_gradient + i * kClassesMax;
      for (std::size_t c = layout.classes; c < layout.class_rows; ++c) logits_gradient[c] = 0;
      const Answer answer = cross_entropy(scratch.logits + i * kClassesMax, layout.classes,
                                          group.labels[i], scale, logits_gradient);
      result.loss += answer.loss;
      result.correct += answer.correct ? 1 : 0;
    }
    go_back(layout, parameters, group, adds || first > 0, gradient, scratch);
  }
  return result;
}

void infer(const CnnLayout& layout, const float* parameters, const Batch& batch, float* logits,
           float* scratch_floats) {
  Scratch& scratch = *reinterpret_cast<Scratch*>(scratch_floats);
  prepare(layout, parameters, scratch);
  for (std::size_t first = 0; first < batch.count; first += kGroup) {
    const Batch group = group_of(batch, first);
    go_forward(layout, parameters, group, scratch);
    for (std::size_t i = 0; i < group.count; ++i) {
      for (std::size_t c = 0; c < layout.classes; ++c) {
        logits[(first + i) * layout.classes + c] = scratch.logits[i * kClassesMax + c];
      }
    }
  }
}

void add_floats(float* to, const float* from, std::size_t floats) {
  for (std::size_t i = 0; i < floats; i += 16) store(to + i, add(load16(to + i), load16(from + i)));
}

void sgd(float* parameters, float* momentum, const float* gradient, std::size_t floats,
         const SgdStep& step) {
  const V16 kept = all16(step.momentum);
  const V16 rate = all16(-step.learning_rate);
  const V16 decay = all16(step.weight_decay);
  for (std::size_t i = 0; i < floats; i += 16) {
    const V16 value = load16(parameters + i);
    const V16 slope = fma(decay, value, load16(gradient + i));
    const V16 moving = fma(kept, load16(momentum + i), slope);
    store(momentum + i, moving);
    store(parameters + i, fma(rate, moving, value));
  }
}

void adam(float* parameters, float* first, float* second, const float* gradient, std::size_t floats,
          const AdamStep& step) {
  const V16 decay = all16(step.decoupled ? 0 : step.weight_decay);
  const V16 shrink = all16(step.decoupled ? 1 - step.learning_rate * step.weight_decay : 1);
  const V16 rate = all16(-step.learning_rate / step.first_bias);
  const V16 second_bias = all16(step.second_bias);
  for (std::size_t i = 0; i < floats; i += 16) {
    const V16 value = multiply(load16(parameters + i), shrink);
    const V16 slope = fma(decay, value, load16(gradient + i));
    const V16 mean = fma(all16(0.1F), slope, multiply(all16(0.9F), load16(first + i)));
    const V16 square =
        fma(multiply(all16(0.001F), slope), slope, multiply(all16(0.999F), load16(second + i)));
    const V16 size = add(square_root(divide(square, second_bias)), all16(1e-8F));
    store(first + i, mean);
    store(second + i, square);
    store(parameters + i, fma(rate, divide(mean, size), value));
  }
}

}  // namespace
}  // namespace outlast::trainers::fused
