#include "trainers/census/fold_booster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainers/census/adult.h"
#include "trainers/census/boosting.h"
#include "trainers/census/census_encoding.h"
#include "trainers/census/cross_validation.h"

namespace outlast::trainers {
namespace {

struct EncodedPeople {
  std::vector<float> values;
  std::vector<float> labels;

  ValueRows rows() const { return {.values = values, .columns = kCensusColumns}; }
};

class FoldBoosterTest : public ::testing::Test {
 protected:
  EncodedPeople encoded(const CensusTable& table) const {
    const std::vector<std::uint32_t> all = census_rows(table);
    return {.values = encode_census(encoding_, table, all), .labels = census_labels(table, all)};
  }
  FoldRows rows() const {
    return FoldRows(
        {.learn_from = train_.rows(), .labels = train_.labels, .held_out = test_.rows()});
  }
  std::vector<float> margins_of_xgboost(const BoostingParameters& parameters, unsigned trees) {
    const BoostingMatrix matrix = *BoostingMatrix::quantised(
        {.values = train_.values, .columns = kCensusColumns, .labels = train_.labels});
    const BoostingMatrix test =
        *BoostingMatrix::plain({.values = test_.values, .columns = kCensusColumns});
    Booster booster = *Booster::make(matrix, parameters);
    for (unsigned round = 0; round < trees; ++round) EXPECT_TRUE(booster.boost(round));
    return *booster.margins(test);
  }
  static std::vector<float> margins_of_ours(const FoldRows& rows,
                                            const BoostingParameters& parameters, unsigned trees) {
    FoldBooster booster(rows, parameters);
    for (unsigned round = 0; round < trees; ++round) booster.boost();
    return booster.margins();
  }

  CensusData data_ = synthetic_census({.seed = 7, .rows = 3000});
  CensusEncoding encoding_ = learn_census_encoding(data_.train, census_rows(data_.train));
  EncodedPeople train_ = encoded(data_.train);
  EncodedPeople test_ = encoded(data_.test);
};

double mean_distance(const std::vector<float>& left, const std::vector<float>& right) {
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    sum += std::abs(static_cast<double>(left[i]) - static_cast<double>(right[i]));
  }
  return sum / static_cast<double>(left.size());
}

// Without the columns of many values, whose bins end elsewhere, both grow the same first trees.
TEST_F(FoldBoosterTest, GrowsTheTreesOfXgboostWhereBinsAreTheSame) {
  for (EncodedPeople* people : {&train_, &test_}) {
    for (float& value : people->values) value = std::min(std::floor(value), 100.0F);
  }
  for (const unsigned depth : {1U, 3U, 7U}) {
    const BoostingParameters parameters{.learning_rate = 0.3, .depth = depth, .min_leaf = 2};
    const std::vector<float> ours = margins_of_ours(rows(), parameters, 3);
    const std::vector<float> theirs = margins_of_xgboost(parameters, 3);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], theirs[i], 2e-3) << depth;
  }
}

TEST_F(FoldBoosterTest, JudgesAsXgboostDoes) {
  for (const BoostingParameters& parameters :
       {BoostingParameters{.learning_rate = 0.1, .depth = 3, .min_leaf = 1},
        BoostingParameters{.learning_rate = 0.05, .depth = 6, .min_leaf = 3}}) {
    const std::vector<float> ours = margins_of_ours(rows(), parameters, 60);
    const std::vector<float> theirs = margins_of_xgboost(parameters, 60);
    EXPECT_LT(mean_distance(ours, theirs), 0.1);
    EXPECT_NEAR(count_correct(ours, test_.labels), count_correct(theirs, test_.labels),
                0.01 * static_cast<double>(ours.size()));
  }
}

TEST_F(FoldBoosterTest, IsTheSameEachTime) {
  const FoldRows all = rows();
  const BoostingParameters parameters{.learning_rate = 0.1, .depth = 5, .min_leaf = 1};
  EXPECT_EQ(margins_of_ours(all, parameters, 20), margins_of_ours(rows(), parameters, 20));
  EXPECT_NE(margins_of_ours(all, parameters, 20), margins_of_ours(all, parameters, 19));
}

TEST_F(FoldBoosterTest, HasOnlyALeafWhereNothingCanBeParted) {
  const BoostingParameters parameters{.learning_rate = 1, .depth = 4, .min_leaf = 1'000'000};
  const std::vector<float> margins = margins_of_ours(rows(), parameters, 1);
  double earn_more = 0;
  for (const float label : train_.labels) earn_more += label;
  const auto people = static_cast<double>(train_.labels.size());
  for (const float margin : margins) {
    ASSERT_NEAR(margin, (earn_more - people / 2) / (people / 4 + 1), 1e-3);
  }
}

}  // namespace
}  // namespace outlast::trainers
