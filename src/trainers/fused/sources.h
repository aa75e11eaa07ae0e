#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// What a pooled map gives back. For kernels_*.cc only.
namespace outlast::trainers::fused {
namespace {

// One value of a map that has a gradient, and where the window that it came from begins.
struct Source {
  std::int32_t window = 0;  // in floats
  float gradient = 0;
};

// Those among every Step-th of Values whose gradient is not 0, in their order. There must be room
// for one more than there can be: every value is written, and then kept or not, as a branch that is
// taken half of the time costs more than all the rest.
template <std::size_t Step, std::size_t Values>
inline std::size_t sources_of(const std::int32_t* windows, const float* gradient, Source* sources) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < Values; i += Step) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, gradient + i, sizeof(bits));
    sources[count].window = windows[i];
    std::memcpy(&sources[count].gradient, &bits, sizeof(bits));
    count += bits << 1U != 0 ? 1U : 0U;  // 0 may have a sign
  }
  return count;
}

}  // namespace
}  // namespace outlast::trainers::fused
