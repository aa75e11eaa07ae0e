#include "trainers/images/transforms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/random.h"
#include "trainers/images/picture.h"

namespace outlast::trainers {

Size with_shorter_side(const Size& size, std::size_t side) {
  // The longer side is cut off, not rounded, as torchvision does it.
  if (size.width <= size.height) return {.width = side, .height = side * size.height / size.width};
  return {.width = side * size.width / size.height, .height = side};
}

Crop centre_crop(const Size& picture, const Size& wanted) {
  const std::size_t width = std::min(picture.width, wanted.width);
  const std::size_t height = std::min(picture.height, wanted.height);
  return {.left = (picture.width - width) / 2,
          .top = (picture.height - height) / 2,
          .width = width,
          .height = height};
}

Crop random_crop(const Size& picture, const CropRange& range, Random& random) {
  const auto width = static_cast<double>(picture.width);
  const auto height = static_cast<double>(picture.height);
  for (int draw = 0; draw < 10; ++draw) {
    const double area =
        width * height * (range.area_min + (range.area_max - range.area_min) * random.unit());
    // Between the two on a scale on which 3/4 and 4/3 are equally far from 1. Powers instead of
    // logarithms would do, too; either is the same on every machine with one C library.
    const double low = std::log(range.ratio_min);
    const double ratio = std::exp(low + (std::log(range.ratio_max) - low) * random.unit());
    const auto wide = static_cast<std::size_t>(std::lround(std::sqrt(area * ratio)));
    const auto high = static_cast<std::size_t>(std::lround(std::sqrt(area / ratio)));
    if (wide == 0 || high == 0 || wide > picture.width || high > picture.height) continue;
    const std::size_t top = random.below(picture.height - high + 1);
    const std::size_t left = random.below(picture.width - wide + 1);
    return {.left = left, .top = top, .width = wide, .height = high};
  }
  Size fits = picture;
  if (width < range.ratio_min * height) {
    fits.height = static_cast<std::size_t>(std::lround(width / range.ratio_min));
  } else if (width > range.ratio_max * height) {
    fits.width = static_cast<std::size_t>(std::lround(height * range.ratio_max));
  }
  return centre_crop(picture, fits);
}

void flip(Picture& picture) {
  for (std::size_t y = 0; y < picture.height; ++y) {
    std::uint8_t* const row = picture.rgb.data() + y * picture.width * 3;
    for (std::size_t left = 0, right = picture.width - 1; left < right; ++left, --right) {
      std::swap_ranges(row + 3 * left, row + 3 * left + 3, row + 3 * right);
    }
  }
}

void normalise(std::span<const std::uint8_t> rgb, const Normalisation& normalisation,
               std::span<float> out) {
  // There are only 256 values of each channel, and each is computed once.
  std::array<std::array<float, 256>, 3> values = {};
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t v = 0; v < 256; ++v) {
      values[c][v] =
          (static_cast<float>(v) / 255.0F - normalisation.mean[c]) / normalisation.std[c];
    }
  }
  for (std::size_t i = 0; i + 3 <= rgb.size(); i += 3) {
    for (std::size_t c = 0; c < 3; ++c) out[i + c] = values[c][rgb[i + c]];
  }
}

Picture transformed(const Picture& picture, const Transform& transform, Random& random) {
  const Size size = {.width = picture.width, .height = picture.height};
  if (!transform.random) {
    const Size scaled = with_shorter_side(size, transform.shorter_side);
    const Picture whole =
        resize(picture, {.left = 0, .top = 0, .width = size.width, .height = size.height}, scaled);
    return resize(whole, centre_crop(scaled, transform.size), transform.size);
  }
  Picture result = resize(picture, random_crop(size, transform.crop, random), transform.size);
  if (transform.flips && random.below(2) == 1) flip(result);
  return result;
}

}  // namespace outlast::trainers
