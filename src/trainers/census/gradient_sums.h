#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Gradients and curvatures of the logistic loss as whole numbers, both in one word: sums of them
// are one addition, are exact, and are the same in any order and on every processor.
namespace outlast::trainers {

// The gradient in the upper half, the curvature, which is never below 0, in the lower.
using PackedGradient = std::int64_t;

// How fine the whole numbers are: as fine as sums over all rows allow, but no finer than a float.
struct GradientScale {
  float gradient = 1;
  float curvature = 1;

  static GradientScale for_rows(std::size_t rows);
};

// A sum as numbers of the scale.
inline double gradient_of(PackedGradient sum, const GradientScale& scale) {
  return static_cast<double>(static_cast<std::int32_t>(sum >> 32)) /
         static_cast<double>(scale.gradient);
}
inline double curvature_of(PackedGradient sum, const GradientScale& scale) {
  return static_cast<double>(static_cast<std::uint32_t>(sum)) /
         static_cast<double>(scale.curvature);
}

// Of each row: what its label (0 or 1) and margin make of it.
void logistic_gradients(std::span<const float> margins, std::span<const float> labels,
                        const GradientScale& scale, std::span<PackedGradient> gradients);

// Histograms over combinations, as GroupedRows has them. All rows are of that one's.
struct HistogramRows {
  std::span<const std::uint16_t> combinations = {};
  std::size_t groups = 0;  // at most kGroupsMax
};
constexpr std::size_t kGroupsMax = 16;
// Adds these rows to the histogram.
void add_to_histogram(const HistogramRows& from, std::span<const std::uint32_t> rows,
                      std::span<const PackedGradient> gradients, PackedGradient* histogram);

// Where a node could be parted.
struct SplitPlaces {
  std::span<const PackedGradient> left = {};  // the sum of what would go to the left, for each
  PackedGradient whole = 0;
  GradientScale scale = {};
  float least = 0;  // the curvature that each part must have
};
// The first of the best, and what both parts score together; below 0 if there is none. `scores` is
// memory to work in, as long as the places.
struct BestSplit {
  std::size_t place = 0;
  float score = -1;
};
BestSplit best_split(const SplitPlaces& places, std::span<std::int32_t> scores);
// What a sum scores: the square of its gradient by its curvature and 1.
float score_of(PackedGradient sum, const GradientScale& scale);

}  // namespace outlast::trainers
