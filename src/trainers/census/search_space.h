#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainers/census/boosting.h"

namespace outlast::trainers {

// One set of hyper-parameters. The names are scikit-learn's; what they are in XGBoost:
//   learning rate   eta
//   depth           max_depth
//   min leaf        min_child_weight. That is no count of rows: a row weighs p(1-p), a quarter at
//                   most, so that a leaf of weight m has 4m rows or more
//   min split       nothing. It forbids to part a node of fewer rows than 2 to 6; but both parts
//                   weigh at least 1, so that no node of fewer than 8 rows is parted anyway. It is
//                   drawn, shown and has no effect
//   trees           rounds of boosting
struct Configuration {
  unsigned learning_rate_percent = 10;
  unsigned depth = 3;
  unsigned min_split = 2;
  unsigned min_leaf = 1;
  unsigned trees = 100;

  BoostingParameters boosting() const {
    return {.learning_rate = learning_rate_percent / 100.0, .depth = depth, .min_leaf = min_leaf};
  }
  friend bool operator==(const Configuration&, const Configuration&) = default;
};
// "learning rate 0.12, depth 5, min split 3, min leaf 1, trees 150".
std::string to_string(const Configuration& configuration);

struct SearchPlace {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
};
// The configuration of this number: a pure function, so that nobody has to draw the ones before.
// Learning rate 0.01 to 0.19, depth 3 to 7, min split 2 to 6, min leaf 1 to 3, trees 80 to 200 by
// tens, each as likely as the others.
Configuration draw_configuration(const SearchPlace& place);

// Configurations that differ only in the number of trees (or in what has no effect) have the same
// first trees: they are grown once, to the length of the longest.
struct Chain {
  struct Member {
    std::size_t number = 0;
    unsigned trees = 0;
  };
  BoostingParameters boosting = {};
  std::vector<Member> members = {};  // by rising number of trees
};
// The chains of those configurations whose `is_wanted` is true, in the order of the lowest number
// in each.
std::vector<Chain> make_chains(std::span<const Configuration> configurations,
                               const std::vector<bool>& is_wanted);

}  // namespace outlast::trainers
