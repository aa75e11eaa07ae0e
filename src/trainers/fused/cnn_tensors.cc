#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainers/fused/cnn.h"
#include "trainers/fused/cnn_layout.h"

namespace outlast::trainers::fused {
namespace {

std::uint32_t place(std::size_t at) {
  return static_cast<std::uint32_t>(at);
}

// [map][from][ky][kx], as PyTorch has it; `pixel` is how many floats `from` counts are padded to,
// and `row` how far two rows of taps are from each other.
struct Convolution {
  std::size_t begin = 0;
  std::size_t maps = 0;
  std::size_t from = 0;
  std::size_t pixel = 0;
  std::size_t row = 0;
};

CnnTensor convolution(std::string name, const Convolution& conv) {
  CnnTensor tensor{.name = std::move(name), .shape = {conv.maps, conv.from, kTaps, kTaps}};
  for (std::size_t map = 0; map < conv.maps; ++map) {
    for (std::size_t from = 0; from < conv.from; ++from) {
      for (std::size_t ky = 0; ky < kTaps; ++ky) {
        for (std::size_t kx = 0; kx < kTaps; ++kx) {
          tensor.places.push_back(
              place(conv.begin + (map * kTaps + ky) * conv.row + kx * conv.pixel + from));
        }
      }
    }
  }
  return tensor;
}

CnnTensor bias(std::string name, std::size_t begin, std::size_t count) {
  CnnTensor tensor{.name = std::move(name), .shape = {count}};
  for (std::size_t i = 0; i < count; ++i) tensor.places.push_back(place(begin + i));
  return tensor;
}

struct Matrix {
  std::size_t begin = 0;
  std::size_t out = 0;
  std::size_t in = 0;
  std::size_t row = 0;
};

CnnTensor matrix(std::string name, const Matrix& matrix) {
  CnnTensor tensor{.name = std::move(name), .shape = {matrix.out, matrix.in}};
  for (std::size_t out = 0; out < matrix.out; ++out) {
    for (std::size_t in = 0; in < matrix.in; ++in) {
      tensor.places.push_back(place(matrix.begin + out * matrix.row + in));
    }
  }
  return tensor;
}

// Its inputs are [map][y][x] in PyTorch and [y][x][map] here.
CnnTensor first_matrix(std::size_t begin) {
  CnnTensor tensor{.name = "fc1.weight", .shape = {kDense1, kDense1In}};
  constexpr std::size_t kPlaces = kPooled2 * kPooled2;
  for (std::size_t out = 0; out < kDense1; ++out) {
    for (std::size_t map = 0; map < kMaps2; ++map) {
      for (std::size_t at = 0; at < kPlaces; ++at) {
        tensor.places.push_back(place(begin + out * kDense1In + at * kMaps2 + map));
      }
    }
  }
  return tensor;
}

}  // namespace

std::vector<CnnTensor> cnn_tensors(const CnnShape& shape) {
  const CnnLayout at{.classes = shape.classes};
  return {
      convolution("conv1.weight", {.begin = at.conv1,
                                   .maps = kMaps1,
                                   .from = shape.channels,
                                   .pixel = kPixelFloats,
                                   .row = kTapRow1}),
      bias("conv1.bias", at.conv1_bias, kMaps1),
      convolution("conv2.weight", {.begin = at.conv2,
                                   .maps = kMaps2,
                                   .from = kMaps1,
                                   .pixel = kMap1Floats,
                                   .row = kTaps * kMap1Floats}),
      bias("conv2.bias", at.conv2_bias, kMaps2),
      first_matrix(at.dense1),
      bias("fc1.bias", at.dense1_bias, kDense1),
      matrix("fc2.weight", {.begin = at.dense2, .out = kDense2, .in = kDense1, .row = kDense2In}),
      bias("fc2.bias", at.dense2_bias, kDense2),
      matrix("fc3.weight",
             {.begin = at.dense3, .out = shape.classes, .in = kDense2, .row = kDense3In}),
      bias("fc3.bias", at.dense3_bias, shape.classes),
  };
}

}  // namespace outlast::trainers::fused
