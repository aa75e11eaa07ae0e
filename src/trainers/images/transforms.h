#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/random.h"
#include "trainers/images/picture.h"

// What is done to a picture before a network sees it. Pure functions of their arguments: the same
// pixels in every build and on every machine of one architecture. Sizes are > 0.
namespace outlast::trainers {

// A part of a picture, within it.
struct Crop {
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t width = 0;
  std::size_t height = 0;
  friend bool operator==(const Crop&, const Crop&) = default;
};
struct Size {
  std::size_t width = 0;
  std::size_t height = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

// The part, scaled to the size. Each new pixel is the mean of the old ones around it, weighted by a
// triangle as wide as the scale makes it (what torchvision does to PIL images: bilinear with
// antialiasing), in whole numbers of 1/16384, columns first and then rows.
Picture resize(const Picture& picture, const Crop& part, const Size& size);

// The whole picture's size when its shorter side gets this long, the ratio being kept.
Size with_shorter_side(const Size& size, std::size_t side);
// The middle of a picture, or all of it where it is smaller.
Crop centre_crop(const Size& picture, const Size& wanted);

struct CropRange {
  double area_min = 0.08;  // of the picture's area
  double area_max = 1;
  double ratio_min = 0.75;  // width by height
  double ratio_max = 4.0 / 3;
};
// A part of random area and ratio at a random place. After ten draws that do not fit: the largest
// part in the middle whose ratio is in the range.
Crop random_crop(const Size& picture, const CropRange& range, Random& random);

// Left and right exchanged.
void flip(Picture& picture);

// (value / 255 - mean) / std, of red, green and blue.
struct Normalisation {
  std::array<float, 3> mean = {0.485F, 0.456F, 0.406F};
  std::array<float, 3> std = {0.229F, 0.224F, 0.225F};
};
// Of pixels as a Picture has them, of whatever many; `out` is as long.
void normalise(std::span<const std::uint8_t> rgb, const Normalisation& normalisation,
               std::span<float> out);

// All of it, as networks for ImageNet are trained and measured.
struct Transform {
  bool random = true;  // a random part, flipped or not; otherwise the middle
  Size size = {.width = 224, .height = 224};
  std::size_t shorter_side = 256;  // what the picture is scaled to before its middle is cut out
  CropRange crop = {};
  bool flips = true;
  Normalisation normalisation = {};
};
// The picture as the transform makes it, of exactly its size.
Picture transformed(const Picture& picture, const Transform& transform, Random& random);

}  // namespace outlast::trainers
