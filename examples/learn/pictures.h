#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace learn {

inline constexpr std::size_t kPixels = 64;  // 8 x 8
inline constexpr std::size_t kClasses = 10;

struct Picture {
  std::array<float, kPixels> pixels = {};
  std::size_t digit = 0;
};

// Digits somewhere in their pictures, under noise. The same seed draws the same ones.
std::vector<Picture> draw_pictures(std::size_t count, std::uint64_t seed);

}  // namespace learn
