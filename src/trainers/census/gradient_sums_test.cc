#include "trainers/census/gradient_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace outlast::trainers {
namespace {

TEST(GradientSums, AreThoseOfTheLogisticLoss) {
  const GradientScale scale = GradientScale::for_rows(26'000);
  std::vector<float> margins;
  std::vector<float> labels;
  for (float margin = -90; margin <= 90; margin += 0.37F) {
    margins.push_back(margin);
    labels.push_back(margins.size() % 2 == 0 ? 1.0F : 0.0F);
  }
  std::vector<PackedGradient> gradients(margins.size());
  logistic_gradients(margins, labels, scale, gradients);
  for (std::size_t i = 0; i < margins.size(); ++i) {
    const double chance = 1 / (1 + std::exp(-static_cast<double>(margins[i])));
    EXPECT_NEAR(gradient_of(gradients[i], scale), chance - static_cast<double>(labels[i]), 2e-5);
    EXPECT_NEAR(curvature_of(gradients[i], scale), chance * (1 - chance), 1e-5);
  }
}

// The worst that can be: everybody is as wrong, or as uncertain, as possible.
TEST(GradientSums, DoNotOverflow) {
  for (const std::size_t rows : {1UL, 2UL, 1000UL, 32768UL, 100'000UL}) {
    const GradientScale scale = GradientScale::for_rows(rows);
    for (const float margin : {-60.0F, 60.0F, 0.0F}) {
      const float label = margin > 0 ? 0.0F : 1.0F;
      const std::vector<float> margins(rows, margin);
      const std::vector<float> labels(rows, label);
      std::vector<PackedGradient> gradients(rows);
      logistic_gradients(margins, labels, scale, gradients);
      PackedGradient sum = 0;
      for (const PackedGradient one : gradients) sum += one;
      const auto times = static_cast<double>(rows);
      EXPECT_DOUBLE_EQ(gradient_of(sum, scale), gradient_of(gradients[0], scale) * times);
      EXPECT_DOUBLE_EQ(curvature_of(sum, scale), curvature_of(gradients[0], scale) * times);
    }
  }
}

TEST(GradientSums, AHistogramHasTheSumOfEachCombination) {
  Random random(1);
  for (const std::size_t groups : {std::size_t{1}, std::size_t{7}, kGroupsMax}) {
    std::vector<std::uint16_t> combinations;
    std::vector<PackedGradient> gradients;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < 500; ++row) {
      for (std::size_t group = 0; group < groups; ++group) {
        combinations.push_back(static_cast<std::uint16_t>(group * 10 + random.below(10)));
      }
      gradients.push_back(static_cast<PackedGradient>(random.below(1U << 30U)) - (1 << 29));
      if (random.chance(0.5)) rows.push_back(row);
    }
    std::vector<PackedGradient> expected(groups * 10);
    for (const std::uint32_t row : rows) {
      for (std::size_t group = 0; group < groups; ++group) {
        expected[combinations[row * groups + group]] += gradients[row];
      }
    }
    std::vector<PackedGradient> histogram(groups * 10);
    add_to_histogram({.combinations = combinations, .groups = groups}, rows, gradients,
                     histogram.data());
    EXPECT_EQ(histogram, expected);
  }
}

PackedGradient packed(int gradient, int curvature) {
  return static_cast<PackedGradient>(gradient) * (PackedGradient{1} << 32) + curvature;
}

TEST(GradientSums, TheBestSplitIsTheFirstOfThoseThatScoreMost) {
  // Right of the third place there is curvature 2 only.
  const std::vector<PackedGradient> left = {packed(-2, 4), packed(-6, 8), packed(-6, 8),
                                            packed(-9, 18)};
  std::vector<std::int32_t> scores(left.size());
  const SplitPlaces places{.left = left, .whole = packed(0, 20), .scale = {}, .least = 3};
  const BestSplit best = best_split(places, scores);
  EXPECT_EQ(best.place, 1U);
  EXPECT_FLOAT_EQ(best.score, 36.0F / 9 + 36.0F / 13);
  EXPECT_FLOAT_EQ(score_of(packed(-6, 8), {}), 4.0F);
}

TEST(GradientSums, ThereIsNoSplitIfAPartWouldBeTooLight) {
  const std::vector<PackedGradient> left = {packed(-2, 4), packed(-6, 8)};
  std::vector<std::int32_t> scores(left.size());
  EXPECT_LT(
      best_split({.left = left, .whole = packed(0, 20), .scale = {}, .least = 13}, scores).score,
      0);
}

}  // namespace
}  // namespace outlast::trainers
