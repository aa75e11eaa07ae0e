#pragma once

#include <cstddef>
#include <cstdint>

#include "trainers/fused/cnn_layout.h"
#include "trainers/fused/conv1.h"
#include "trainers/fused/lanes.h"
#include "trainers/fused/sources.h"

// The second convolution with ReLU and pooling, both ways. For kernels_*.cc only.
namespace outlast::trainers::fused {
namespace {

// The pooled maps, [y][x][map], which are what the first dense layer takes, and for each value
// where its window begins in the maps below.
struct Pool2 {
  float* values;          // kDense1In
  std::int32_t* windows;  // kDense1In
};

// The weights in the order in which the forward pass uses them: [ky][kx][map of conv1][map].
inline constexpr std::size_t kConv2Taps = kTaps * kTaps * kMaps1 * kMaps2;
inline void order_conv2(const float* weights, float* ordered) {
  for (std::size_t tap = 0; tap < kTaps * kTaps; ++tap) {
    for (std::size_t from = 0; from < kMaps1; ++from) {
      for (std::size_t map = 0; map < kMaps2; ++map) {
        ordered[(tap * kMaps1 + from) * kMaps2 + map] =
            weights[map * kKernel2 + tap * kMap1Floats + from];
      }
    }
  }
}

// One pooled value of every map: lane = map.
inline Largest<V16> conv2_pool(const float* maps, const float* ordered) {
  constexpr std::size_t kLine = kPooled1 * kMap1Floats;
  V16 sums[4] = {all16(0), all16(0), all16(0), all16(0)};
  for (std::size_t ky = 0; ky < kTaps; ++ky) {
#pragma GCC unroll 5
    for (std::size_t kx = 0; kx < kTaps; ++kx) {
      const float* corner = maps + ky * kLine + kx * kMap1Floats;
      const float* taps = ordered + (ky * kTaps + kx) * kMaps1 * kMaps2;
#pragma GCC unroll 6
      for (std::size_t from = 0; from < kMaps1; ++from) {
        const V16 tap = load16(taps + from * kMaps2);
        sums[0] = fma(all16(corner[from]), tap, sums[0]);
        sums[1] = fma(all16(corner[from + kMap1Floats]), tap, sums[1]);
        sums[2] = fma(all16(corner[from + kLine]), tap, sums[2]);
        sums[3] = fma(all16(corner[from + kLine + kMap1Floats]), tap, sums[3]);
      }
    }
  }
  constexpr float kDown = kLine;
  constexpr float kRight = kMap1Floats;
  return largest_of(sums, {all16(0), all16(kRight), all16(kDown), all16(kDown + kRight)});
}

inline void conv2_forward(const float* maps, const float* ordered, const float* bias,
                          const Pool2& pool) {
  for (std::size_t y = 0; y < kPooled2; ++y) {
    for (std::size_t x = 0; x < kPooled2; ++x) {
      const std::size_t corner = (2 * y * kPooled1 + 2 * x) * kMap1Floats;
      const Largest<V16> found = conv2_pool(maps + corner, ordered);
      const V16 value = add(found.value, load16(bias));
      const std::size_t at = (y * kPooled2 + x) * kMaps2;
      store(pool.values + at, where_greater(value, all16(0), value, all16(0)));
      store_whole(pool.windows + at, add(found.place, all16(static_cast<float>(corner))));
    }
  }
}

// The gradient of some rows of one map's taps: sums stay in registers over all sources.
template <std::size_t Rows>
inline void conv2_tap_rows(const float* maps, const Source* sources, std::size_t count, float* to) {
  V8 sums[Rows][kTaps];
  for (std::size_t row = 0; row < Rows; ++row) {
    for (std::size_t kx = 0; kx < kTaps; ++kx) {
      sums[row][kx] = load8(to + (row * kTaps + kx) * kMap1Floats);
    }
  }
  for (std::size_t s = 0; s < count; ++s) {
    const float* window = maps + sources[s].window;
    const V8 factor = all8(sources[s].gradient);
#pragma GCC unroll 5
    for (std::size_t row = 0; row < Rows; ++row) {
#pragma GCC unroll 5
      for (std::size_t kx = 0; kx < kTaps; ++kx) {
        sums[row][kx] =
            fma(factor, load8(window + (row * kPooled1 + kx) * kMap1Floats), sums[row][kx]);
      }
    }
  }
  for (std::size_t row = 0; row < Rows; ++row) {
    for (std::size_t kx = 0; kx < kTaps; ++kx) {
      store(to + (row * kTaps + kx) * kMap1Floats, sums[row][kx]);
    }
  }
}

// Adds to the weights' gradient and to that of the maps below, which has their layout.
// `pool_gradient` is what ReLU let through.
inline void conv2_backward(const float* maps, const float* weights, const Pool2& pool,
                           const float* pool_gradient, float* gradient, float* bias_gradient,
                           float* maps_gradient) {
  Source sources[kPooled2 * kPooled2 + 1];
  constexpr std::size_t kTapLine = kTaps * kMap1Floats;
  constexpr std::size_t kLine = kPooled1 * kMap1Floats;
  for (std::size_t map = 0; map < kMaps2; ++map) {
    const std::size_t count =
        sources_of<kMaps2, kDense1In>(pool.windows + map, pool_gradient + map, sources);
    float* to = gradient + map * kKernel2;
    constexpr std::size_t kFirstRows = kConv2RowsAtOnce;
    conv2_tap_rows<kFirstRows>(maps, sources, count, to);
    conv2_tap_rows<kTaps - kFirstRows>(maps + kFirstRows * kLine, sources, count,
                                       to + kFirstRows * kTapLine);
    const float* taps = weights + map * kKernel2;
    float bias = bias_gradient[map];
    for (std::size_t s = 0; s < count; ++s) {
      float* window = maps_gradient + sources[s].window;
      const V8 factor = all8(sources[s].gradient);
      bias += sources[s].gradient;
#pragma GCC unroll 5
      for (std::size_t row = 0; row < kTaps; ++row) {
#pragma GCC unroll 5
        for (std::size_t kx = 0; kx < kTaps; ++kx) {
          float* at = window + row * kLine + kx * kMap1Floats;
          store(at, fma(factor, load8(taps + (row * kTaps + kx) * kMap1Floats), load8(at)));
        }
      }
    }
    bias_gradient[map] = bias;
  }
}

}  // namespace
}  // namespace outlast::trainers::fused
