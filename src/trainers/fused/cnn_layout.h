#pragma once

#include <cstddef>
#include <cstdint>

// The CNN that this folder trains, and how its numbers lie in memory:
//
//   32x32 picture, 1 or 3 channels -> conv 5x5 to 6 -> ReLU -> max-pool 2 -> conv 5x5 to 16 -> ReLU
//   -> max-pool 2 -> dense 400 to 120 -> ReLU -> 84 -> ReLU -> classes
//
// Parameters, gradients and what an optimizer keeps are flat arrays of the same layout. Rows are
// padded to whole vectors; what is padding stays zero. Constants only.
namespace outlast::trainers::fused {

inline constexpr std::size_t kSide = 32;
inline constexpr std::size_t kTaps = 5;         // of a convolution, in each direction
inline constexpr std::size_t kMaps1 = 6;        // of the first convolution
inline constexpr std::size_t kMaps2 = 16;       // of the second
inline constexpr std::size_t kPooled1 = 14;     // side of the first maps when pooled
inline constexpr std::size_t kPooled2 = 5;      // of the second
inline constexpr std::size_t kPixelFloats = 3;  // a pixel of the picture: its channels
inline constexpr std::size_t kMap1Floats = 8;   // a pixel of the first maps, padded
inline constexpr std::size_t kDense1In = kPooled2 * kPooled2 * kMaps2;  // 400: [y][x][map]
inline constexpr std::size_t kDense1 = 120;
inline constexpr std::size_t kDense2In = 128;  // 120, padded
inline constexpr std::size_t kDense2 = 84;
inline constexpr std::size_t kDense3In = 96;  // 84, padded
inline constexpr std::size_t kClassesMax = 1024;

inline constexpr std::size_t kTapRow1 = 16;  // the taps of a row: [kx][channel], padded
inline constexpr std::size_t kKernel1 = kTaps * kTapRow1;
inline constexpr std::size_t kKernel2 = kTaps * kTaps * kMap1Floats;

constexpr std::size_t up_to(std::size_t count, std::size_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

// Where each tensor begins in a flat array.
struct CnnLayout {
  std::size_t classes = 10;
  std::size_t class_rows = up_to(classes, 4);
  std::size_t conv1 = 0;                               // [map][ky][kx][channel]
  std::size_t conv1_bias = conv1 + kMaps1 * kKernel1;  // 480: a multiple of 16, as all below
  std::size_t conv2 = conv1_bias + 16;                 // [map][ky][kx][map of conv1]
  std::size_t conv2_bias = conv2 + kMaps2 * kKernel2;
  std::size_t dense1 = conv2_bias + 16;  // [out][in]
  std::size_t dense1_bias = dense1 + kDense1 * kDense1In;
  std::size_t dense2 = dense1_bias + kDense2In;
  std::size_t dense2_bias = dense2 + kDense2 * kDense2In;
  std::size_t dense3 = dense2_bias + kDense3In;
  std::size_t dense3_bias = dense3 + class_rows * kDense3In;
  std::size_t floats = dense3_bias + up_to(classes, 16);  // of all
};

}  // namespace outlast::trainers::fused
