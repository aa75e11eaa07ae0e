#include "pictures.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random.h"

namespace learn {
namespace {

constexpr std::size_t kSide = 8;
constexpr std::size_t kRows = 7;
constexpr std::size_t kColumns = 5;

// A row is five bits.
constexpr std::array<std::array<unsigned, kRows>, kClasses> kGlyphs = {{
    {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110},
    {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110},
    {0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111},
    {0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110},
    {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010},
    {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110},
    {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110},
    {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000},
    {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110},
    {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100},
}};

Picture draw(Random& random) {
  constexpr float kNoise = 0.65F;
  Picture picture = {.digit = random.below(kClasses)};
  const std::size_t left = random.below(kSide - kColumns + 1);
  const std::size_t top = random.below(kSide - kRows + 1);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      const bool ink = ((kGlyphs[picture.digit][row] >> (kColumns - 1 - column)) & 1U) != 0;
      picture.pixels[(top + row) * kSide + left + column] = ink ? 1.0F : 0.0F;
    }
  }
  for (float& pixel : picture.pixels) {
    // The order of two calls in one expression is the compiler's choice.
    const float one = random.signed_unit();
    pixel += kNoise * (one + random.signed_unit()) / 2.0F;
  }
  return picture;
}

}  // namespace

std::vector<Picture> draw_pictures(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Picture> pictures(count);
  for (Picture& picture : pictures) picture = draw(random);
  return pictures;
}

}  // namespace learn
