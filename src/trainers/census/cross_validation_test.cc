#include "trainers/census/cross_validation.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/error.h"
#include "trainers/census/adult.h"
#include "trainers/census/search_space.h"

namespace outlast::trainers {
namespace {

Chain chain_of(const std::vector<unsigned>& trees) {
  Chain chain{.boosting = {.learning_rate = 0.1, .depth = 3, .min_leaf = 1}};
  for (const unsigned count : trees) {
    chain.members.push_back({.number = chain.members.size(), .trees = count});
  }
  return chain;
}

TEST(Folds, EachHasItsShareOfBothKinds) {
  const CensusTable table = synthetic_census({.seed = 1, .rows = 997}).train;
  const std::vector<std::uint32_t> folds = stratified_folds(table, {.seed = 4, .folds = 5});
  std::array<std::array<std::size_t, 5>, 2> counts = {};
  for (std::size_t row = 0; row < folds.size(); ++row) {
    ++counts.at(table.earns_more[row]).at(folds[row]);
  }
  for (const auto& kind : counts) {
    for (const std::size_t count : kind) {
      EXPECT_LE(count, kind[0]);
      EXPECT_GE(count + 1, kind[0]);
    }
  }
  EXPECT_EQ(folds, stratified_folds(table, {.seed = 4, .folds = 5}));
  EXPECT_NE(folds, stratified_folds(table, {.seed = 5, .folds = 5}));
}

TEST(CrossValidation, AChainSaysWhatEachOfItsMembersWouldAlone) {
  const CensusTable table = synthetic_census({.seed = 1, .rows = 400}).train;
  const CrossValidation validation = *CrossValidation::prepare(table, {.seed = 1, .folds = 3});
  ASSERT_EQ(validation.folds(), 3U);
  for (std::size_t fold = 0; fold < 3; ++fold) {
    const std::vector<std::uint32_t> together =
        *validation.correct(chain_of({2, 5, 5, 12}), fold, {});
    ASSERT_EQ(together.size(), 4U);
    EXPECT_EQ(together[0], validation.correct(chain_of({2}), fold, {})->front());
    EXPECT_EQ(together[1], validation.correct(chain_of({5}), fold, {})->front());
    EXPECT_EQ(together[2], together[1]);
    EXPECT_EQ(together[3], validation.correct(chain_of({12}), fold, {})->front());
    EXPECT_LE(together[3], validation.people(fold));
  }
}

TEST(CrossValidation, StopsWhenItIsAskedTo) {
  const CensusTable table = synthetic_census({.seed = 1, .rows = 100}).train;
  const CrossValidation validation = *CrossValidation::prepare(table, {.seed = 1, .folds = 2});
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = validation.correct(chain_of({3}), 0, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), ErrorCode::kCancelled);
}

TEST(CrossValidation, RefusesMoreFoldsThanPeopleOfAKind) {
  CensusTable table = synthetic_census({.seed = 1, .rows = 30}).train;
  table.earns_more.assign(30, 0);
  table.earns_more[3] = 1;
  const auto made = CrossValidation::prepare(table, {.seed = 1, .folds = 2});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace outlast::trainers
