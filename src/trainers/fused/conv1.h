#pragma once

#include <cstddef>
#include <cstdint>

#include "trainers/fused/cnn_layout.h"
#include "trainers/fused/lanes.h"
#include "trainers/fused/picture.h"
#include "trainers/fused/sources.h"

// The first convolution with ReLU and pooling, both ways. For kernels_*.cc only.
namespace outlast::trainers::fused {
namespace {

// The pooled maps, [y][x][map], and for each value where its window begins in the pixels.
inline constexpr std::size_t kPool1Values = kPooled1 * kPooled1 * kMap1Floats;
struct Pool1 {
  float* values;          // kPool1Values, and 8 behind them
  std::int32_t* windows;  // kPool1Values
};

// The weights in the order in which the forward pass uses them: [maps / 3][channel][ky][kx][map].
inline constexpr std::size_t kTileTaps1 = kTaps * kTaps * kConv1MapsAtOnce;  // of one channel
inline constexpr std::size_t kConv1Taps = kMaps1 * kTaps * kTaps * 3;
inline void order_conv1(const float* weights, float* ordered) {
  for (std::size_t map = 0; map < kMaps1; ++map) {
    float* tile = ordered + map / kConv1MapsAtOnce * 3 * kTileTaps1 + map % kConv1MapsAtOnce;
    for (std::size_t ky = 0; ky < kTaps; ++ky) {
      for (std::size_t kx = 0; kx < kTaps; ++kx) {
        for (std::size_t channel = 0; channel < 3; ++channel) {
          tile[channel * kTileTaps1 + (ky * kTaps + kx) * kConv1MapsAtOnce] =
              weights[map * kKernel1 + ky * kTapRow1 + kx * kPixelFloats + channel];
        }
      }
    }
  }
}

// The value of the pool's four that is largest, the first of equals, and the name of its place.
template <class V>
struct Largest {
  V value;
  V place;
};
template <class V>
inline Largest<V> largest_of(const V (&four)[4], const V (&places)[4]) {
  Largest<V> found = {four[0], places[0]};
  for (int i = 1; i < 4; ++i) {
    found.place = where_greater(four[i], found.value, places[i], found.place);
    found.value = where_greater(four[i], found.value, four[i], found.value);
  }
  return found;
}

// Two neighbouring pooled columns of a group's pictures, lane = [column][picture], for some maps.
// Each has four sums, of the places that are pooled: even and odd columns of the upper and the
// lower row. `corner` is where their windows begin in the halves.
struct Tile1 {
  V8 sums[kConv1MapsAtOnce][4];
};
inline void conv1_tile(const float* corner, std::size_t channels, const float* ordered,
                       Tile1& tile) {
  V8 sums[kConv1MapsAtOnce][4];
  for (auto& four : sums) {
    for (V8& sum : four) sum = all8(0);
  }
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const float* taps = ordered + channel * kTileTaps1;
#pragma GCC unroll 6
    for (std::size_t line = 0; line < kTaps + 1; ++line) {
      const float* even = corner + (channel * kSide + line) * 2 * kHalfRow;
      // Column kx of the even places is column kx - 1 of the odd ones: each is loaded once.
      V8 here = load8(even);
#pragma GCC unroll 5
      for (std::size_t kx = 0; kx < kTaps; ++kx) {
        const V8 next = load8(even + (kx + 1) % 2 * kHalfRow + (kx + 1) / 2 * kGroup);
#pragma GCC unroll 3
        for (std::size_t map = 0; map < kConv1MapsAtOnce; ++map) {
          if (line < kTaps) {
            const V8 tap = all8(taps[(line * kTaps + kx) * kConv1MapsAtOnce + map]);
            sums[map][0] = fma(tap, here, sums[map][0]);
            sums[map][1] = fma(tap, next, sums[map][1]);
          }
          if (line > 0) {
            const V8 tap = all8(taps[((line - 1) * kTaps + kx) * kConv1MapsAtOnce + map]);
            sums[map][2] = fma(tap, here, sums[map][2]);
            sums[map][3] = fma(tap, next, sums[map][3]);
          }
        }
        here = next;
      }
    }
  }
  for (std::size_t map = 0; map < kConv1MapsAtOnce; ++map) {
    for (std::size_t i = 0; i < 4; ++i) tile.sums[map][i] = sums[map][i];
  }
}

// Of a whole group. Pictures that it lacks are computed nevertheless.
inline void conv1_forward(const float* halves, std::size_t channels, const float* ordered,
                          const float* bias, const Pool1 (&pools)[kGroup]) {
  constexpr float kStep = kPixelFloats;
  constexpr float kLine = kSide * kPixelFloats;
  const V8 places[4] = {all8(0), all8(kStep), all8(kLine), all8(kLine + kStep)};
  for (std::size_t y = 0; y < kPooled1; ++y) {
    for (std::size_t x = 0; x < kPooled1; x += 2) {
      const float* corner = halves + 2 * y * 2 * kHalfRow + x * kGroup;
      V8 values[kMap1Floats];  // [map], and when transposed [column][picture]
      V8 windows[kMap1Floats];
      for (std::size_t first = 0; first < kMaps1; first += kConv1MapsAtOnce) {
        Tile1 tile;
        conv1_tile(corner, channels, ordered + first * kTaps * kTaps * 3, tile);
        for (std::size_t map = 0; map < kConv1MapsAtOnce; ++map) {
          const Largest<V8> found = largest_of(tile.sums[map], places);
          const V8 value = add(found.value, all8(bias[first + map]));
          values[first + map] = where_greater(value, all8(0), value, all8(0));
          windows[first + map] = found.place;
        }
      }
      for (std::size_t i = kMaps1; i < kMap1Floats; ++i) values[i] = windows[i] = all8(0);
      transpose(values);
      transpose(windows);
      for (std::size_t i = 0; i < 2 * kGroup; ++i) {
        const std::size_t column = x + i / kGroup;
        const std::size_t at = (y * kPooled1 + column) * kMap1Floats;
        const auto begin = static_cast<float>((2 * y * kSide + 2 * column) * kPixelFloats);
        store(pools[i % kGroup].values + at, values[i]);
        store_whole(pools[i % kGroup].windows + at, add(windows[i], all8(begin)));
      }
    }
  }
}

// Adds to the weights' gradient; the input's is nobody's. `pool_gradient` is what ReLU let through.
inline void conv1_backward(const float* pixels, const Pool1& pool, const float* pool_gradient,
                           float* gradient, float* bias_gradient) {
  Source sources[kPool1Values / kMap1Floats + 1];
  for (std::size_t map = 0; map < kMaps1; ++map) {
    const std::size_t count =
        sources_of<kMap1Floats, kPool1Values>(pool.windows + map, pool_gradient + map, sources);
    float* to = gradient + map * kKernel1;
    V8 sums[kTaps][2];
    for (std::size_t ky = 0; ky < kTaps; ++ky) {
      for (std::size_t i = 0; i < 2; ++i) sums[ky][i] = load8(to + ky * kTapRow1 + i * 8);
    }
    float bias = bias_gradient[map];
    for (std::size_t s = 0; s < count; ++s) {
      const float* window = pixels + sources[s].window;
      const V8 factor = all8(sources[s].gradient);
      bias += sources[s].gradient;
#pragma GCC unroll 5
      for (std::size_t ky = 0; ky < kTaps; ++ky) {
#pragma GCC unroll 2
        for (std::size_t i = 0; i < 2; ++i) {
          sums[ky][i] = fma(factor, load8(window + ky * kSide * kPixelFloats + i * 8), sums[ky][i]);
        }
      }
    }
    bias_gradient[map] = bias;
    for (std::size_t ky = 0; ky < kTaps; ++ky) {
      for (std::size_t i = 0; i < 2; ++i) store(to + ky * kTapRow1 + i * 8, sums[ky][i]);
      to[ky * kTapRow1 + kTapRow1 - 1] = 0;  // of the window's sixth column: it fills the vector
    }
  }
}

}  // namespace
}  // namespace outlast::trainers::fused
