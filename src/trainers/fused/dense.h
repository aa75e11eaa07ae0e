#pragma once

#include <cstddef>

#include "trainers/fused/lanes.h"

// Dense layers over a few pictures at once, so that a weight that was loaded is used for all of
// them. For kernels_*.cc only.
namespace outlast::trainers::fused {
namespace {

struct Dense {
  const float* weights;  // [out][in]
  const float* bias;
  std::size_t in;          // a multiple of 16; also the distance of two pictures' inputs
  std::size_t out;         // a multiple of 4
  std::size_t out_stride;  // the distance of two pictures' outputs
};

template <std::size_t Images, std::size_t Outputs>
inline void dense_tile(const Dense& layer, const float* inputs, std::size_t output, bool rectify,
                       float* outputs) {
  V8 sums[Images][Outputs];
  for (auto& row : sums) {
    for (V8& sum : row) sum = all8(0);
  }
  const float* weights = layer.weights + output * layer.in;
  for (std::size_t i = 0; i < layer.in; i += 8) {
    V8 input[Images];
#pragma GCC unroll 4
    for (std::size_t image = 0; image < Images; ++image)
      input[image] = load8(inputs + image * layer.in + i);
#pragma GCC unroll 4
    for (std::size_t o = 0; o < Outputs; ++o) {
      const V8 weight = load8(weights + o * layer.in + i);
#pragma GCC unroll 4
      for (std::size_t image = 0; image < Images; ++image) {
        sums[image][o] = fma(weight, input[image], sums[image][o]);
      }
    }
  }
  for (std::size_t image = 0; image < Images; ++image) {
    for (std::size_t o = 0; o < Outputs; ++o) {
      const float value = sum_of(sums[image][o]) + layer.bias[output + o];
      outputs[image * layer.out_stride + output + o] = rectify && !(value > 0) ? 0 : value;
    }
  }
}

template <std::size_t Images>
inline void dense_images(const Dense& layer, const float* inputs, bool rectify, float* outputs) {
  for (std::size_t output = 0; output < layer.out; output += kForwardOutputs) {
    dense_tile<Images, kForwardOutputs>(layer, inputs, output, rectify, outputs);
  }
}

inline void dense_forward(const Dense& layer, const float* inputs, std::size_t images, bool rectify,
                          float* outputs) {
  std::size_t image = 0;
  for (; image + kForwardImages <= images; image += kForwardImages) {
    dense_images<kForwardImages>(layer, inputs + image * layer.in, rectify,
                                 outputs + image * layer.out_stride);
  }
  for (; image < images; ++image) {
    dense_images<1>(layer, inputs + image * layer.in, rectify, outputs + image * layer.out_stride);
  }
}

struct DenseGradients {
  float* weights;
  float* bias;
  float* inputs;  // [image][in]: becomes that of the inputs
  bool adds;      // to the weights' and the bias's; otherwise they are replaced
};

template <std::size_t Images, std::size_t Outputs>
inline void dense_back_tile(const Dense& layer, const float* inputs, const float* output_gradients,
                            std::size_t output, bool adds, const DenseGradients& to) {
  V8 factor[Outputs][Images];
#pragma GCC unroll 4
  for (std::size_t o = 0; o < Outputs; ++o) {
#pragma GCC unroll 4
    for (std::size_t image = 0; image < Images; ++image) {
      factor[o][image] = all8(output_gradients[image * layer.out_stride + output + o]);
    }
  }
  for (std::size_t i = 0; i < layer.in; i += 8) {
    V8 input[Images];
    V8 below[Images];
#pragma GCC unroll 4
    for (std::size_t image = 0; image < Images; ++image) {
      input[image] = load8(inputs + image * layer.in + i);
      below[image] = output == 0 ? all8(0) : load8(to.inputs + image * layer.in + i);
    }
#pragma GCC unroll 4
    for (std::size_t o = 0; o < Outputs; ++o) {
      const std::size_t at = (output + o) * layer.in + i;
      const V8 weight = load8(layer.weights + at);
      V8 gradient = adds ? load8(to.weights + at) : all8(0);
#pragma GCC unroll 4
      for (std::size_t image = 0; image < Images; ++image) {
        gradient = fma(factor[o][image], input[image], gradient);
        below[image] = fma(factor[o][image], weight, below[image]);
      }
      store(to.weights + at, gradient);
    }
#pragma GCC unroll 4
    for (std::size_t image = 0; image < Images; ++image)
      store(to.inputs + image * layer.in + i, below[image]);
  }
}

template <std::size_t Images>
inline void dense_back_images(const Dense& layer, const float* inputs,
                              const float* output_gradients, const DenseGradients& to) {
  for (std::size_t output = 0; output < layer.out; output += kBackOutputs) {
    dense_back_tile<Images, kBackOutputs>(layer, inputs, output_gradients, output, to.adds, to);
  }
  for (std::size_t output = 0; output < layer.out; ++output) {
    float bias = to.adds ? to.bias[output] : 0;
    for (std::size_t image = 0; image < Images; ++image) {
      bias += output_gradients[image * layer.out_stride + output];
    }
    to.bias[output] = bias;
  }
}

inline void dense_backward(const Dense& layer, const float* inputs, const float* output_gradients,
                           std::size_t images, DenseGradients to) {
  std::size_t image = 0;
  while (image < images) {
    const float* in = inputs + image * layer.in;
    const float* out = output_gradients + image * layer.out_stride;
    std::size_t count = 1;
    if (image + kBackImages <= images) {
      count = kBackImages;
      dense_back_images<kBackImages>(layer, in, out, to);
    } else {
      dense_back_images<1>(layer, in, out, to);
    }
    image += count;
    to.inputs += count * layer.in;
    to.adds = true;
  }
}

// What ReLU let through, [image][count].
inline void rectify_gradient(const float* values, std::size_t floats, float* gradient) {
  for (std::size_t i = 0; i < floats; i += 8) {
    store(gradient + i, where_greater(load8(values + i), all8(0), load8(gradient + i), all8(0)));
  }
}

}  // namespace
}  // namespace outlast::trainers::fused
