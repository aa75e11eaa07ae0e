#pragma once

#include <cstddef>
#include <cstdint>

#include "trainers/fused/cnn_layout.h"

// A picture's bytes as numbers from -1 to 1, in the two forms that the first convolution wants. For
// kernels_*.cc only.
namespace outlast::trainers::fused {
namespace {

// Forward: the even and the odd columns of each row apart, [channel][y][even, odd][column / 2].
// What is pooled together, a column and its neighbour, is then the same lane of two vectors.
inline constexpr std::size_t kHalfRow = 24;  // 16, and what a shifted load reads behind them
inline constexpr std::size_t kHalvesFloats = 3 * kSide * 2 * kHalfRow;
// Backward: pixel by pixel, [y][x][channel]; a window's row is then contiguous.
inline constexpr std::size_t kPixelsFloats = kSide * kSide * kPixelFloats + 16;

inline float number_of(unsigned byte) {
  return static_cast<float>(byte) * (2.0F / 255.0F) - 1.0F;
}

inline void picture_to_halves(const std::uint8_t* picture, std::size_t channels, float* halves) {
  for (std::size_t row = 0; row < channels * kSide; ++row) {
    const std::uint8_t* from = picture + row * kSide;
    float* even = halves + row * 2 * kHalfRow;
    float* odd = even + kHalfRow;
    for (std::size_t i = 0; i < kSide / 2; ++i) even[i] = number_of(from[2 * i]);
    for (std::size_t i = 0; i < kSide / 2; ++i) odd[i] = number_of(from[2 * i + 1]);
    for (std::size_t i = kSide / 2; i < kHalfRow; ++i) even[i] = odd[i] = 0;
  }
}

inline void picture_to_pixels(const std::uint8_t* picture, std::size_t channels, float* pixels) {
  constexpr std::size_t kPlane = kSide * kSide;
  const std::uint8_t* second = picture + (channels > 1 ? kPlane : 0);
  const std::uint8_t* third = picture + (channels > 2 ? 2 * kPlane : 0);
  for (std::size_t i = 0; i < kPlane; ++i) {
    pixels[i * kPixelFloats] = number_of(picture[i]);
    pixels[i * kPixelFloats + 1] = number_of(second[i]);
    pixels[i * kPixelFloats + 2] = number_of(third[i]);
    pixels[i * kPixelFloats + 3] = 0;
  }
  for (std::size_t i = kPlane * kPixelFloats; i < kPixelsFloats; ++i) pixels[i] = 0;
}

}  // namespace
}  // namespace outlast::trainers::fused
