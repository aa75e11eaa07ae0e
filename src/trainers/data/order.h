#pragma once

#include <cstdint>
#include <vector>

namespace outlast::trainers {

// What a number that is drawn somewhere depends on, as one seed.
struct SeedParts {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
};
// A pure function: other parts give an unrelated seed, also if they differ in one bit only or in
// their order.
std::uint64_t mix_seed(const SeedParts& parts);

struct EpochOrder {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint32_t count = 0;
};
// The numbers 0 to count - 1 in the order in which this epoch visits them. A pure function, so that
// a run that goes on in the middle of an epoch needs to remember nothing but its step.
std::vector<std::uint32_t> epoch_order(const EpochOrder& order);

}  // namespace outlast::trainers
