#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "trainers/data/image_set.h"
#include "trainers/data/order.h"
#include "trainers/data/synthetic.h"

namespace outlast::trainers {
namespace {

// Tells the draws of patterns, of training and of test images apart.
constexpr std::uint64_t kPatternDraws = 1;
constexpr std::uint64_t kTrainDraws = 2;
constexpr std::uint64_t kTestDraws = 3;

// What all images of a class share. Of further channels than four, the colours come round again.
struct Pattern {
  std::int64_t step_x = 0;  // how far the phase moves from pixel to pixel, 256 being a whole stripe
  std::int64_t step_y = 0;
  std::array<int, 4> stripes = {};  // how much a stripe adds to each channel
  std::array<int, 4> spot = {};
};

// Where one image has it. Lengths are in pixels.
struct Placement {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t radius = 1;
  std::int64_t phase = 0;
  int strength = 0;  // of 256
};

Pattern draw_pattern(Random& random, std::size_t side) {
  Pattern pattern;
  // A stripe of a quarter to an eighth of the picture, in any direction.
  const auto finest = static_cast<std::int64_t>(std::max<std::size_t>(8 * 256 / side, 8));
  do {
    pattern.step_x = random.between(-finest, finest);
    pattern.step_y = random.between(0, finest);
  } while (pattern.step_x * pattern.step_x + pattern.step_y * pattern.step_y < finest * finest / 4);
  for (int& part : pattern.stripes) part = static_cast<int>(random.between(-90, 90));
  for (int& part : pattern.spot) part = static_cast<int>(random.between(-110, 110));
  // At least one channel shows the stripes well, also in a gray picture.
  pattern.stripes[0] += pattern.stripes[0] < 0 ? -30 : 30;
  return pattern;
}

// Up and down between -128 and 128.
std::int64_t wave(std::int64_t phase) {
  const std::int64_t at = ((phase % 256) + 256) % 256;
  return at < 128 ? 2 * at - 128 : 384 - 2 * at;
}

// From 256 in the middle of a round window to 0 at its edge.
std::int64_t window(std::int64_t dx, std::int64_t dy, std::int64_t radius) {
  const std::int64_t edge = radius * radius;
  return std::max<std::int64_t>(edge - dx * dx - dy * dy, 0) * 256 / edge;
}

class ImagePainter {
 public:
  ImagePainter(const SyntheticImages& wanted, std::vector<Pattern> patterns)
      : wanted_(wanted), patterns_(std::move(patterns)), plane_(wanted.width * wanted.height) {}

  ImageSet paint(std::size_t count, std::uint64_t draws) {
    ImageSet set = {.width = wanted_.width, .height = wanted_.height, .channels = wanted_.channels};
    for (std::size_t i = 0; i < wanted_.classes; ++i) {
      set.class_names.push_back(fmt::format("pattern {}", i));
    }
    set.pixels.reserve(count * set.image_bytes());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t label = i % wanted_.classes;
      Random random(mix_seed({.a = wanted_.seed, .b = draws, .c = i}));
      paint_one(label, random);
      set.labels.push_back(static_cast<std::uint16_t>(label));
      append_noisy(random, set.pixels);
    }
    return set;
  }

 private:
  void paint_one(std::size_t label, Random& random) {
    canvas_.resize(plane_ * wanted_.channels);
    for (std::size_t channel = 0; channel < wanted_.channels; ++channel) {
      const auto begin = canvas_.begin() + static_cast<std::ptrdiff_t>(channel * plane_);
      std::fill_n(begin, plane_, static_cast<int>(random.between(88, 168)));
    }
    for (int other = 0; other < 2; ++other) {
      add_stripes(patterns_[random.below(patterns_.size())], draw_placement(random, 70));
    }
    add_stripes(patterns_[label], draw_placement(random, 160));
    Placement spot = draw_placement(random, 140);
    spot.radius = std::max<std::int64_t>(spot.radius / 3, 1);
    add_spot(patterns_[label], spot);
  }

  Placement draw_placement(Random& random, int strength) const {
    const auto width = static_cast<std::int64_t>(wanted_.width);
    const auto height = static_cast<std::int64_t>(wanted_.height);
    const std::int64_t side = std::min(width, height);
    return {.x = random.between(width / 4, width - width / 4),
            .y = random.between(height / 4, height - height / 4),
            .radius = std::max<std::int64_t>(random.between(side / 3, side / 2), 1),
            .phase = random.between(0, 255),
            .strength = strength};
  }

  // Adds how(dx, dy) / 32768 of the colour within the window.
  template <typename How>
  void add(const std::array<int, 4>& colour, const Placement& placement, const How& how) {
    for (std::size_t y = 0; y < wanted_.height; ++y) {
      const std::int64_t dy = static_cast<std::int64_t>(y) - placement.y;
      for (std::size_t x = 0; x < wanted_.width; ++x) {
        const std::int64_t dx = static_cast<std::int64_t>(x) - placement.x;
        const std::int64_t weight = window(dx, dy, placement.radius) * placement.strength / 256;
        if (weight == 0) continue;
        const std::int64_t value = weight * how(dx, dy);
        for (std::size_t channel = 0; channel < wanted_.channels; ++channel) {
          canvas_[channel * plane_ + y * wanted_.width + x] +=
              static_cast<int>(value * colour[channel % colour.size()] / 32768);
        }
      }
    }
  }

  void add_stripes(const Pattern& pattern, const Placement& placement) {
    add(pattern.stripes, placement, [&](std::int64_t dx, std::int64_t dy) {
      return wave(placement.phase + dx * pattern.step_x + dy * pattern.step_y);
    });
  }
  void add_spot(const Pattern& pattern, const Placement& placement) {
    add(pattern.spot, placement, [](std::int64_t, std::int64_t) { return std::int64_t{128}; });
  }

  void append_noisy(Random& random, std::vector<std::uint8_t>& pixels) const {
    std::uint64_t draw = 0;
    for (std::size_t i = 0; i < canvas_.size(); ++i) {
      if (i % 4 == 0) draw = random.next();
      // The sum of two draws of 7 bits: most noise is small.
      const int noise = static_cast<int>(draw & 127U) + static_cast<int>((draw >> 8U) & 127U) - 127;
      draw >>= 16U;
      pixels.push_back(static_cast<std::uint8_t>(std::clamp(canvas_[i] + noise, 0, 255)));
    }
  }

  const SyntheticImages wanted_;
  const std::vector<Pattern> patterns_;
  const std::size_t plane_;
  std::vector<int> canvas_;
};

}  // namespace

ImageData synthetic_images(const SyntheticImages& wanted) {
  OUTLAST_CHECK(wanted.classes > 0 && wanted.classes <= 65'535 && wanted.width > 0 &&
                    wanted.height > 0 && wanted.channels > 0,
                "images of {}x{}x{} in {} classes", wanted.width, wanted.height, wanted.channels,
                wanted.classes);
  std::vector<Pattern> patterns;
  for (std::size_t i = 0; i < wanted.classes; ++i) {
    Random random(mix_seed({.a = wanted.seed, .b = kPatternDraws, .c = i}));
    patterns.push_back(draw_pattern(random, std::min(wanted.width, wanted.height)));
  }
  ImagePainter painter(wanted, std::move(patterns));
  return {.train = painter.paint(wanted.train_count, kTrainDraws),
          .test = painter.paint(wanted.test_count, kTestDraws),
          .synthetic = true,
          .from = fmt::format("made up with seed {}", wanted.seed)};
}

}  // namespace outlast::trainers
