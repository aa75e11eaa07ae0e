#include "trainers/census/boosting.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "trainers/census/adult.h"
#include "trainers/census/census_encoding.h"
#include "trainers/census/cross_validation.h"

namespace outlast::trainers {
namespace {

class BoostingTest : public ::testing::Test {
 protected:
  BoostingRows train_rows() const {
    return {.values = values_, .columns = kCensusColumns, .labels = labels_};
  }
  BoostingMatrix quantised() const { return *BoostingMatrix::quantised(train_rows()); }

  // The model after so many rounds, saved and taken up again after each of `breaks`.
  std::string model_after(std::uint64_t rounds, const std::vector<std::uint64_t>& breaks) const {
    const BoostingMatrix first = quantised();
    std::string state = *Booster::make(first, parameters_)->serialised();
    std::uint64_t done = 0;
    std::vector<std::uint64_t> ends = breaks;
    ends.push_back(rounds);
    for (const std::uint64_t end : ends) {
      const BoostingMatrix matrix = quantised();
      Booster booster = done == 0 ? *Booster::make(matrix, parameters_)
                                  : *Booster::make_from(matrix, parameters_, state);
      for (; done < end; ++done) EXPECT_TRUE(booster.boost(done));
      state = *booster.serialised();
      if (end == rounds) return *booster.model(ModelFormat::kJson);
    }
    return "";
  }

  CensusData data_ = synthetic_census({.seed = 5, .rows = 600});
  std::vector<std::uint32_t> rows_ = census_rows(data_.train);
  CensusEncoding encoding_ = learn_census_encoding(data_.train, rows_);
  std::vector<float> values_ = encode_census(encoding_, data_.train, rows_);
  std::vector<float> labels_ = census_labels(data_.train, rows_);
  BoostingParameters parameters_ = {.learning_rate = 0.13, .depth = 5, .min_leaf = 1};
};

TEST_F(BoostingTest, ATakenUpModelHasTheSameBytesAsOneThatWasNeverLeft) {
  const std::string whole = model_after(20, {});
  EXPECT_EQ(model_after(20, {7}), whole);
  EXPECT_EQ(model_after(20, {1, 2, 19}), whole);
  EXPECT_NE(model_after(19, {}), whole);
}

TEST_F(BoostingTest, LearnsTheRuleOfTheMadeUpPeople) {
  const BoostingMatrix matrix = quantised();
  Booster booster = *Booster::make(matrix, parameters_);
  for (std::uint64_t round = 0; round < 20; ++round) ASSERT_TRUE(booster.boost(round));
  const std::vector<std::uint32_t> rows = census_rows(data_.test);
  const std::vector<float> values = encode_census(encoding_, data_.test, rows);
  const BoostingMatrix test = *BoostingMatrix::plain({.values = values, .columns = kCensusColumns});
  const std::vector<float> margins = *booster.margins(test);
  // One in ten is against the rule, and more than a quarter earn more.
  EXPECT_GT(count_correct(margins, census_labels(data_.test, rows)), 300U * 8 / 10);

  for (const ModelFormat format : {ModelFormat::kJson, ModelFormat::kUbj}) {
    const Booster loaded = *Booster::load(*booster.model(format));
    EXPECT_EQ(*loaded.margins(test), margins);
    EXPECT_EQ(*loaded.rounds(), 20U);
    EXPECT_EQ(*loaded.columns(), kCensusColumns);
  }
}

TEST_F(BoostingTest, AModelCarriesTextsWithIt) {
  const BoostingMatrix matrix = quantised();
  Booster booster = *Booster::make(matrix, parameters_);
  ASSERT_TRUE(booster.boost(0));
  ASSERT_TRUE(booster.set_attribute("words", "a \"b\" c"));
  const Booster loaded = *Booster::load(*booster.model(ModelFormat::kJson));
  EXPECT_EQ(*loaded.attribute("words"), "a \"b\" c");
  EXPECT_EQ(*loaded.attribute("other"), std::nullopt);
}

TEST_F(BoostingTest, RefusesBytesThatAreNoModel) {
  for (const std::string& bytes : {std::string(), std::string("PK\3\4"), std::string("{\"a\":1}"),
                                   std::string("{\"learner\":"), std::string("{")}) {
    const auto loaded = Booster::load(bytes);
    ASSERT_FALSE(loaded) << bytes;
    EXPECT_EQ(loaded.error().code(), ErrorCode::kCorrupt) << bytes;
  }
}

}  // namespace
}  // namespace outlast::trainers
