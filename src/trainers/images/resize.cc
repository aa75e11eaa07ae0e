#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "trainers/images/picture.h"
#include "trainers/images/transforms.h"

namespace outlast::trainers {
namespace {

constexpr int kWeightBits = 14;

// Which old pixels make a new one, along one axis.
struct Taps {
  std::vector<std::size_t> first;     // of each new pixel
  std::vector<std::int32_t> weights;  // `count` for each, in 1/16384; they sum up to 1
  std::size_t count = 0;
};

struct Axis {
  std::size_t from = 0;    // where the part begins
  std::size_t length = 0;  // of the part
  std::size_t wanted = 0;
};

Taps make_taps(const Axis& axis) {
  const double scale = static_cast<double>(axis.length) / static_cast<double>(axis.wanted);
  const double reach = std::max(scale, 1.0);
  Taps taps;
  taps.count = std::min(static_cast<std::size_t>(std::ceil(reach)) * 2 + 1, axis.length);
  taps.first.reserve(axis.wanted);
  taps.weights.assign(axis.wanted * taps.count, 0);
  std::vector<double> exact(taps.count);
  for (std::size_t i = 0; i < axis.wanted; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto begin = static_cast<std::size_t>(std::max(centre - reach + 0.5, 0.0));
    const std::size_t first = std::min(begin, axis.length - taps.count);
    double sum = 0;
    for (std::size_t k = 0; k < taps.count; ++k) {
      const double away = std::abs(static_cast<double>(first + k) + 0.5 - centre) / reach;
      exact[k] = std::max(1 - away, 0.0);
      sum += exact[k];
    }
    std::int32_t* const weights = taps.weights.data() + i * taps.count;
    std::int32_t total = 0;
    std::size_t heaviest = 0;
    for (std::size_t k = 0; k < taps.count; ++k) {
      weights[k] = static_cast<std::int32_t>(std::lround(exact[k] / sum * (1 << kWeightBits)));
      total += weights[k];
      if (weights[k] > weights[heaviest]) heaviest = k;
    }
    // An even surface stays what it is.
    weights[heaviest] += (1 << kWeightBits) - total;
    taps.first.push_back(axis.from + first);
  }
  return taps;
}

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>((sum + (1 << (kWeightBits - 1))) >> kWeightBits);
}

Picture cut_out(const Picture& picture, const Crop& part) {
  Picture result = {.width = part.width, .height = part.height};
  result.rgb.reserve(part.width * part.height * 3);
  for (std::size_t y = 0; y < part.height; ++y) {
    const std::uint8_t* const from =
        picture.rgb.data() + ((part.top + y) * picture.width + part.left) * 3;
    result.rgb.insert(result.rgb.end(), from, from + part.width * 3);
  }
  return result;
}

}  // namespace

Picture resize(const Picture& picture, const Crop& part, const Size& size) {
  OUTLAST_CHECK(part.width > 0 && part.height > 0 && part.left + part.width <= picture.width &&
                    part.top + part.height <= picture.height && size.width > 0 && size.height > 0,
                "{}x{} at {},{} of {}x{} to {}x{}", part.width, part.height, part.left, part.top,
                picture.width, picture.height, size.width, size.height);
  if (size == Size{.width = part.width, .height = part.height}) return cut_out(picture, part);
  const Taps columns = make_taps({.from = part.left, .length = part.width, .wanted = size.width});
  const Taps rows = make_taps({.from = 0, .length = part.height, .wanted = size.height});

  // The part's rows, each of the new width.
  const std::size_t row_bytes = size.width * 3;
  std::vector<std::uint8_t> narrow(part.height * row_bytes);
  for (std::size_t y = 0; y < part.height; ++y) {
    const std::uint8_t* const from = picture.rgb.data() + (part.top + y) * picture.width * 3;
    std::uint8_t* to = narrow.data() + y * row_bytes;
    for (std::size_t x = 0; x < size.width; ++x) {
      const std::uint8_t* pixel = from + columns.first[x] * 3;
      const std::int32_t* const weights = columns.weights.data() + x * columns.count;
      std::int32_t red = 0;
      std::int32_t green = 0;
      std::int32_t blue = 0;
      for (std::size_t k = 0; k < columns.count; ++k, pixel += 3) {
        red += weights[k] * pixel[0];
        green += weights[k] * pixel[1];
        blue += weights[k] * pixel[2];
      }
      *to++ = rounded(red);
      *to++ = rounded(green);
      *to++ = rounded(blue);
    }
  }

  Picture result = {.width = size.width, .height = size.height};
  result.rgb.resize(size.height * row_bytes);
  // Row by row, so that the inner loop runs over neighbours.
  std::vector<std::int32_t> sums(row_bytes);
  for (std::size_t y = 0; y < size.height; ++y) {
    std::fill(sums.begin(), sums.end(), 0);
    for (std::size_t k = 0; k < rows.count; ++k) {
      const std::int32_t weight = rows.weights[y * rows.count + k];
      if (weight == 0) continue;
      const std::uint8_t* const from = narrow.data() + (rows.first[y] + k) * row_bytes;
      for (std::size_t i = 0; i < row_bytes; ++i) sums[i] += weight * from[i];
    }
    std::uint8_t* const to = result.rgb.data() + y * row_bytes;
    for (std::size_t i = 0; i < row_bytes; ++i) to[i] = rounded(sums[i]);
  }
  return result;
}

}  // namespace outlast::trainers
