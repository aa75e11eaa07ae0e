#pragma once

#include <cstddef>
#include <cstdint>

#include "trainers/fused/cnn_layout.h"
#include "trainers/fused/lanes.h"
#include "trainers/fused/picture.h"

// The first convolution with ReLU and pooling, both ways. For kernels_*.cc only.
namespace outlast::trainers::fused {
namespace {

// One value of a map that has a gradient, and where the window that it came from begins.
struct Source {
  std::int32_t window = 0;  // in floats
  float gradient = 0;
};

// The pooled maps, [y][x][map], and for each value where its window begins in the pixels.
inline constexpr std::size_t kPool1Values = kPooled1 * kPooled1 * kMap1Floats;
struct Pool1 {
  float* values;          // kPool1Values, and 8 behind them
  std::int32_t* windows;  // kPool1Values
};

// The weights in the order in which the forward pass uses them: [map][channel][ky][kx].
inline constexpr std::size_t kMapTaps1 = 3 * kTaps * kTaps;
inline constexpr std::size_t kConv1Taps = kMaps1 * kMapTaps1;
inline void order_conv1(const float* weights, float* ordered) {
  for (std::size_t map = 0; map < kMaps1; ++map) {
    for (std::size_t ky = 0; ky < kTaps; ++ky) {
      for (std::size_t kx = 0; kx < kTaps; ++kx) {
        for (std::size_t channel = 0; channel < 3; ++channel) {
          ordered[map * kMapTaps1 + (channel * kTaps + ky) * kTaps + kx] =
              weights[map * kKernel1 + ky * kTapRow1 + kx * kPixelFloats + channel];
        }
      }
    }
  }
}

// The value of the pool's four that is largest, the first of equals, and which it was.
struct Largest {
  V16 value;
  V16 which;
};
inline Largest largest_of(const V16 (&four)[4]) {
  Largest found = {four[0], all16(0)};
  for (int i = 1; i < 4; ++i) {
    found.which = where_greater(four[i], found.value, all16(static_cast<float>(i)), found.which);
    found.value = where_greater(four[i], found.value, four[i], found.value);
  }
  return found;
}
inline V16 rectified(V16 a) {
  return where_greater(a, all16(0), a, all16(0));
}

// A row of pooled values of one map, whose taps `ordered` begins with: lane = column. Four sums, of
// the places that are pooled: even and odd columns of the upper and the lower row.
inline Largest conv1_row(const float* halves, std::size_t channels, const float* ordered,
                         std::size_t y) {
  V16 sums[4] = {all16(0), all16(0), all16(0), all16(0)};
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const float* taps = ordered + channel * kTaps * kTaps;
#pragma GCC unroll 6
    for (std::size_t line = 0; line < kTaps + 1; ++line) {
      const float* even = halves + (channel * kSide + 2 * y + line) * 2 * kHalfRow;
      const float* odd = even + kHalfRow;
      // Column kx of the even places is column kx - 1 of the odd ones: each is loaded once.
      const float* const columns[6] = {even, odd, even + 1, odd + 1, even + 2, odd + 2};
      V16 here = load16(columns[0]);
#pragma GCC unroll 5
      for (std::size_t kx = 0; kx < kTaps; ++kx) {
        const V16 next = load16(columns[kx + 1]);
        if (line < kTaps) {
          const V16 tap = all16(taps[line * kTaps + kx]);
          sums[0] = fma(tap, here, sums[0]);
          sums[1] = fma(tap, next, sums[1]);
        }
        if (line > 0) {
          const V16 tap = all16(taps[(line - 1) * kTaps + kx]);
          sums[2] = fma(tap, here, sums[2]);
          sums[3] = fma(tap, next, sums[3]);
        }
        here = next;
      }
    }
  }
  return largest_of(sums);
}

inline void conv1_forward(const float* halves, std::size_t channels, const float* ordered,
                          const float* bias, const Pool1& pool) {
  alignas(64) float values[kMaps1][16];
  alignas(64) float which[kMaps1][16];
  constexpr std::int32_t kStep = static_cast<std::int32_t>(kPixelFloats);
  constexpr std::int32_t kLine = static_cast<std::int32_t>(kSide * kPixelFloats);
  constexpr std::int32_t kPlaces[4] = {0, kStep, kLine, kLine + kStep};
  for (std::size_t y = 0; y < kPooled1; ++y) {
    for (std::size_t map = 0; map < kMaps1; ++map) {
      const Largest row = conv1_row(halves, channels, ordered + map * kMapTaps1, y);
      store(values[map], rectified(add(row.value, all16(bias[map]))));
      store(which[map], row.which);
    }
    float* to = pool.values + y * kPooled1 * kMap1Floats;
    std::int32_t* windows = pool.windows + y * kPooled1 * kMap1Floats;
    for (std::size_t x = 0; x < kPooled1; ++x) {
      const auto corner =
          static_cast<std::int32_t>(2 * y) * kLine + static_cast<std::int32_t>(2 * x) * kStep;
      for (std::size_t map = 0; map < kMaps1; ++map) {
        to[x * kMap1Floats + map] = values[map][x];
        windows[x * kMap1Floats + map] = corner + kPlaces[static_cast<int>(which[map][x])];
      }
      to[x * kMap1Floats + 6] = 0;
      to[x * kMap1Floats + 7] = 0;
    }
  }
}

// The sources of one map: where ReLU let nothing through there is no gradient.
inline std::size_t conv1_sources(const Pool1& pool, const float* pool_gradient, std::size_t map,
                                 Source* sources) {
  std::size_t count = 0;
  for (std::size_t i = map; i < kPool1Values; i += kMap1Floats) {
    const float gradient = pool.values[i] > 0 ? pool_gradient[i] : 0.0F;
    sources[count] = {pool.windows[i], gradient};
    count += gradient != 0 ? 1 : 0;
  }
  return count;
}

// Adds to the weights' gradient; the input's is nobody's.
inline void conv1_backward(const float* pixels, const Pool1& pool, const float* pool_gradient,
                           float* gradient, float* bias_gradient) {
  Source sources[kPooled1 * kPooled1 + 1];
  for (std::size_t map = 0; map < kMaps1; ++map) {
    const std::size_t count = conv1_sources(pool, pool_gradient, map, sources);
    float* to = gradient + map * kKernel1;
    V8 sums[kTaps][3];
    for (std::size_t ky = 0; ky < kTaps; ++ky) {
      for (std::size_t i = 0; i < 3; ++i) sums[ky][i] = load8(to + ky * kTapRow1 + i * 8);
    }
    float bias = bias_gradient[map];
    for (std::size_t s = 0; s < count; ++s) {
      const float* window = pixels + sources[s].window;
      const V8 factor = all8(sources[s].gradient);
      bias += sources[s].gradient;
#pragma GCC unroll 5
      for (std::size_t ky = 0; ky < kTaps; ++ky) {
#pragma GCC unroll 3
        for (std::size_t i = 0; i < 3; ++i) {
          sums[ky][i] = fma(factor, load8(window + ky * kSide * kPixelFloats + i * 8), sums[ky][i]);
        }
      }
    }
    bias_gradient[map] = bias;
    for (std::size_t ky = 0; ky < kTaps; ++ky) {
      for (std::size_t i = 0; i < 3; ++i) store(to + ky * kTapRow1 + i * 8, sums[ky][i]);
      // The window's sixth column, which only fills the vector.
      for (std::size_t i = kTaps * kPixelFloats; i < kTapRow1; ++i) to[ky * kTapRow1 + i] = 0;
    }
  }
}

}  // namespace
}  // namespace outlast::trainers::fused
