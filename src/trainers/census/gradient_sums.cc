#include "trainers/census/gradient_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace outlast::trainers {
namespace {

// XGBoost's lambda, by default.
constexpr float kShrink = 1;
constexpr float kNoScore = -1;

// e to the x, to some 1e-7 of it, for |x| up to 80: by a power of two and a polynomial, in
// operations that round alike everywhere and that compilers know how to do several of at once.
inline float exponential(float x) {
  constexpr float kRound = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction
  const float shifted = x * 1.44269504F + kRound;
  const float whole = shifted - kRound;
  const float rest = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float sum = 1.9875691500e-4F;
  sum = sum * rest + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1;
  const auto power = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  return sum * std::bit_cast<float>((power + 127) << 23);
}

inline std::int32_t nearest(float value) {
  return static_cast<std::int32_t>(value + (value < 0 ? -0.5F : 0.5F));
}

template <std::size_t... Group>
void add_rows(const HistogramRows& from, std::span<const std::uint32_t> rows,
              const PackedGradient* gradients, PackedGradient* histogram,
              std::index_sequence<Group...>) {
  const std::uint16_t* const combinations = from.combinations.data();
  for (const std::uint32_t row : rows) {
    const PackedGradient gradient = gradients[row];
    const std::uint16_t* const own = combinations + std::size_t{row} * sizeof...(Group);
    ((histogram[own[Group]] += gradient), ...);
  }
}

template <std::size_t Groups>
void add_groups(const HistogramRows& from, std::span<const std::uint32_t> rows,
                const PackedGradient* gradients, PackedGradient* histogram) {
  add_rows(from, rows, gradients, histogram, std::make_index_sequence<Groups>());
}

using AddRows = void (*)(const HistogramRows&, std::span<const std::uint32_t>,
                         const PackedGradient*, PackedGradient*);

// One for each number of groups, so that the loop over them is none.
template <std::size_t... Groups>
constexpr std::array<AddRows, sizeof...(Groups)> make_table(std::index_sequence<Groups...>) {
  return {&add_groups<Groups>...};
}
constexpr auto kAddRows = make_table(std::make_index_sequence<kGroupsMax + 1>());

}  // namespace

GradientScale GradientScale::for_rows(std::size_t rows) {
  const int bits = std::min(static_cast<int>(std::bit_width(rows)), 30);
  return {.gradient = static_cast<float>(1U << static_cast<unsigned>(std::min(31 - bits, 20))),
          .curvature = static_cast<float>(1U << static_cast<unsigned>(std::min(32 - bits, 21)))};
}

void logistic_gradients(std::span<const float> margins, std::span<const float> labels,
                        const GradientScale& scale, std::span<PackedGradient> gradients) {
  const std::size_t rows = margins.size();
  const float* const margin = margins.data();
  const float* const label = labels.data();
  PackedGradient* const packed = gradients.data();
  for (std::size_t row = 0; row < rows; ++row) {
    const float within = std::min(std::max(margin[row], -60.0F), 60.0F);
    const float chance = 1 / (1 + exponential(-within));
    const std::int32_t gradient = nearest((chance - label[row]) * scale.gradient);
    const std::int32_t curvature = nearest(chance * (1 - chance) * scale.curvature);
    packed[row] = static_cast<PackedGradient>(
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(gradient)) << 32U |
        static_cast<std::uint32_t>(curvature));
  }
}

void add_to_histogram(const HistogramRows& from, std::span<const std::uint32_t> rows,
                      std::span<const PackedGradient> gradients, PackedGradient* histogram) {
  kAddRows.at(from.groups)(from, rows, gradients.data(), histogram);
}

float score_of(PackedGradient sum, const GradientScale& scale) {
  const double gradient = gradient_of(sum, scale);
  return static_cast<float>(gradient * gradient / (curvature_of(sum, scale) + kShrink));
}

// Scores are compared as whole numbers, which are in the same order unless both are below 0: of
// these compilers find the greatest of several at once.
BestSplit best_split(const SplitPlaces& places, std::span<std::int32_t> scores) {
  const std::size_t count = places.left.size();
  const PackedGradient* const lefts = places.left.data();
  std::int32_t* const score = scores.data();
  const PackedGradient whole = places.whole;
  const float gradient_unit = 1 / places.scale.gradient;
  const float curvature_unit = 1 / places.scale.curvature;
  const float least = places.least;
  for (std::size_t i = 0; i < count; ++i) {
    const PackedGradient left = lefts[i];
    const PackedGradient right = whole - left;
    const float left_gradient =
        static_cast<float>(static_cast<std::int32_t>(left >> 32)) * gradient_unit;
    const float right_gradient =
        static_cast<float>(static_cast<std::int32_t>(right >> 32)) * gradient_unit;
    const float left_weight = static_cast<float>(static_cast<std::int32_t>(left)) * curvature_unit;
    const float right_weight =
        static_cast<float>(static_cast<std::int32_t>(right)) * curvature_unit;
    const float low = left_weight + kShrink;
    const float high = right_weight + kShrink;
    const float both =
        (left_gradient * left_gradient * high + right_gradient * right_gradient * low) /
        (low * high);
    const float lighter = left_weight < right_weight ? left_weight : right_weight;
    score[i] = std::bit_cast<std::int32_t>(lighter < least ? kNoScore : both);
  }
  std::int32_t best = std::bit_cast<std::int32_t>(kNoScore);
  for (std::size_t i = 0; i < count; ++i) best = score[i] > best ? score[i] : best;
  if (best < 0) return {};
  const std::int32_t* const place = std::find(score, score + count, best);
  return {.place = static_cast<std::size_t>(place - score), .score = std::bit_cast<float>(best)};
}

}  // namespace outlast::trainers
