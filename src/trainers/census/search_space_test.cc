#include "trainers/census/search_space.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace outlast::trainers {
namespace {

TEST(SearchSpace, AConfigurationFollowsFromSeedAndNumber) {
  EXPECT_EQ(draw_configuration({.seed = 1, .number = 7}),
            draw_configuration({.seed = 1, .number = 7}));
  EXPECT_NE(draw_configuration({.seed = 1, .number = 7}),
            draw_configuration({.seed = 1, .number = 8}));
  EXPECT_NE(draw_configuration({.seed = 1, .number = 7}),
            draw_configuration({.seed = 2, .number = 7}));
  EXPECT_NE(draw_configuration({.seed = 7, .number = 1}),
            draw_configuration({.seed = 1, .number = 7}));
}

TEST(SearchSpace, AllOfItIsDrawnAndNothingElse) {
  std::set<unsigned> rates;
  std::set<unsigned> depths;
  std::set<unsigned> splits;
  std::set<unsigned> leaves;
  std::set<unsigned> trees;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const Configuration drawn = draw_configuration({.seed = 3, .number = number});
    rates.insert(drawn.learning_rate_percent);
    depths.insert(drawn.depth);
    splits.insert(drawn.min_split);
    leaves.insert(drawn.min_leaf);
    trees.insert(drawn.trees);
  }
  EXPECT_EQ(rates.size(), 19U);
  EXPECT_EQ(*rates.begin(), 1U);
  EXPECT_EQ(*rates.rbegin(), 19U);
  EXPECT_EQ(depths, (std::set<unsigned>{3, 4, 5, 6, 7}));
  EXPECT_EQ(splits, (std::set<unsigned>{2, 3, 4, 5, 6}));
  EXPECT_EQ(leaves, (std::set<unsigned>{1, 2, 3}));
  EXPECT_EQ(trees.size(), 13U);
  EXPECT_EQ(*trees.begin(), 80U);
  EXPECT_EQ(*trees.rbegin(), 200U);
}

TEST(Chains, JoinWhatDiffersOnlyInTreesAndMinSplit) {
  const Configuration base{.learning_rate_percent = 5, .depth = 4, .min_split = 2, .trees = 100};
  Configuration longer = base;
  longer.trees = 150;
  Configuration other_split = base;
  other_split.min_split = 6;
  Configuration deeper = base;
  deeper.depth = 5;
  const std::vector<Configuration> all = {longer, deeper, base, other_split, base};
  const std::vector<Chain> chains = make_chains(all, {true, true, true, true, false});
  ASSERT_EQ(chains.size(), 2U);
  std::vector<std::size_t> numbers;
  for (const Chain::Member& member : chains[0].members) numbers.push_back(member.number);
  EXPECT_EQ(numbers, (std::vector<std::size_t>{2, 3, 0}));
  ASSERT_EQ(chains[1].members.size(), 1U);
  EXPECT_EQ(chains[1].boosting.depth, 5U);
}

}  // namespace
}  // namespace outlast::trainers
