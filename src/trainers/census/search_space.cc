#include "trainers/census/search_space.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "trainers/data/order.h"

namespace outlast::trainers {
namespace {

struct UnsignedRange {
  unsigned low = 0;
  unsigned high = 0;
};

unsigned draw_unsigned(Random& random, const UnsignedRange& range) {
  return range.low + static_cast<unsigned>(random.below(range.high - range.low + 1));
}

}  // namespace

std::string to_string(const Configuration& configuration) {
  return fmt::format("learning rate {:.2f}, depth {}, min split {}, min leaf {}, trees {}",
                     configuration.learning_rate_percent / 100.0, configuration.depth,
                     configuration.min_split, configuration.min_leaf, configuration.trees);
}

Configuration draw_configuration(const SearchPlace& place) {
  Random random(mix_seed({.a = place.seed, .b = place.number, .c = 1}));
  Configuration drawn;
  drawn.learning_rate_percent = draw_unsigned(random, {.low = 1, .high = 19});
  drawn.depth = draw_unsigned(random, {.low = 3, .high = 7});
  drawn.min_split = draw_unsigned(random, {.low = 2, .high = 6});
  drawn.min_leaf = draw_unsigned(random, {.low = 1, .high = 3});
  drawn.trees = 10 * draw_unsigned(random, {.low = 8, .high = 20});
  return drawn;
}

std::vector<Chain> make_chains(std::span<const Configuration> configurations,
                               const std::vector<bool>& is_wanted) {
  std::vector<Chain> chains;
  std::map<std::tuple<unsigned, unsigned, unsigned>, std::size_t> places;
  for (std::size_t number = 0; number < configurations.size(); ++number) {
    if (!is_wanted[number]) continue;
    const Configuration& one = configurations[number];
    const auto [found, is_new] =
        places.try_emplace({one.learning_rate_percent, one.depth, one.min_leaf}, chains.size());
    if (is_new) chains.push_back({.boosting = one.boosting()});
    chains[found->second].members.push_back({.number = number, .trees = one.trees});
  }
  for (Chain& chain : chains) {
    std::sort(chain.members.begin(), chain.members.end(),
              [](const Chain::Member& left, const Chain::Member& right) {
                return std::tie(left.trees, left.number) < std::tie(right.trees, right.number);
              });
  }
  return chains;
}

}  // namespace outlast::trainers
