#include "trainers/data/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace outlast::trainers {
namespace {

TEST(EpochOrder, VisitsEachNumberOnce) {
  for (const std::uint32_t count : {0U, 1U, 2U, 17U, 5000U}) {
    std::vector<std::uint32_t> order = epoch_order({.seed = 3, .epoch = 7, .count = count});
    std::ranges::sort(order);
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(order, all);
  }
}

TEST(EpochOrder, IsTheSameOnEveryMachine) {
  EXPECT_EQ(epoch_order({.seed = 1, .epoch = 0, .count = 10}),
            (std::vector<std::uint32_t>{6, 5, 0, 7, 1, 8, 4, 2, 9, 3}));
  EXPECT_EQ(epoch_order({.seed = 9, .epoch = 4, .count = 99}),
            epoch_order({.seed = 9, .epoch = 4, .count = 99}));
}

TEST(EpochOrder, ChangesWithTheEpochAndWithTheSeed) {
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
      seen.insert(epoch_order({.seed = seed, .epoch = epoch, .count = 50}));
    }
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(MixSeed, TellsItsPartsApart) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 10; ++a) {
    for (std::uint64_t b = 0; b < 10; ++b) {
      for (std::uint64_t c = 0; c < 10; ++c) seen.insert(mix_seed({.a = a, .b = b, .c = c}));
    }
  }
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace outlast::trainers
