#pragma once

#include <cstddef>
#include <cstdint>

#include "trainers/fused/cnn_layout.h"

// A picture's bytes as numbers from -1 to 1, in the two forms that the first convolution wants. For
// kernels_*.cc only.
namespace outlast::trainers::fused {
namespace {

inline constexpr std::size_t kGroup = 4;  // pictures that are gone through together

// Forward: a group's pictures side by side, and the even and the odd columns of each row apart:
// [channel][y][even, odd][column / 2][picture]. What is pooled together, a column and its
// neighbour, is then the same lane of two vectors, and no lane is left without work.
inline constexpr std::size_t kHalfRow = kSide / 2 * kGroup;
inline constexpr std::size_t kHalvesFloats = 3 * kSide * 2 * kHalfRow;
// Backward: pixel by pixel, [y][x][channel]; a window's row is then contiguous.
inline constexpr std::size_t kPixelsFloats = kSide * kSide * kPixelFloats + 16;

inline float number_of(unsigned byte) {
  return static_cast<float>(byte) * (2.0F / 255.0F) - 1.0F;
}

struct Group {
  const std::uint8_t* pictures[kGroup];  // each [channel][y][x]
};

inline void group_to_halves(const Group& group, std::size_t channels, float* halves) {
  for (std::size_t row = 0; row < channels * kSide; ++row) {
    std::uint8_t bytes[kSide * kGroup];  // [column][picture]
    const std::uint8_t* const from[kGroup] = {
        group.pictures[0] + row * kSide, group.pictures[1] + row * kSide,
        group.pictures[2] + row * kSide, group.pictures[3] + row * kSide};
    for (std::size_t x = 0; x < kSide; ++x) {
      bytes[x * kGroup] = from[0][x];
      bytes[x * kGroup + 1] = from[1][x];
      bytes[x * kGroup + 2] = from[2][x];
      bytes[x * kGroup + 3] = from[3][x];
    }
    float* even = halves + row * 2 * kHalfRow;
    float* odd = even + kHalfRow;
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      for (std::size_t k = 0; k < kGroup; ++k) {
        even[i * kGroup + k] = number_of(bytes[2 * i * kGroup + k]);
        odd[i * kGroup + k] = number_of(bytes[(2 * i + 1) * kGroup + k]);
      }
    }
  }
}

inline void picture_to_pixels(const std::uint8_t* picture, std::size_t channels, float* pixels) {
  constexpr std::size_t kPlane = kSide * kSide;
  if (channels == 1) {
    for (std::size_t i = 0; i < kPlane; ++i) {
      pixels[i * kPixelFloats] = number_of(picture[i]);
      pixels[i * kPixelFloats + 1] = 0;
      pixels[i * kPixelFloats + 2] = 0;
    }
  } else {
    for (std::size_t i = 0; i < kPlane; ++i) {
      pixels[i * kPixelFloats] = number_of(picture[i]);
      pixels[i * kPixelFloats + 1] = number_of(picture[kPlane + i]);
      pixels[i * kPixelFloats + 2] = number_of(picture[2 * kPlane + i]);
    }
  }
  for (std::size_t i = kPlane * kPixelFloats; i < kPixelsFloats; ++i) pixels[i] = 0;
}

}  // namespace
}  // namespace outlast::trainers::fused
