#pragma once

#include <cstdint>

namespace outlast::trainers {

// How many threads libtorch uses within one operation. Results of different numbers of threads
// differ by rounding.
void use_threads(unsigned threads);

// Makes libtorch's own randomness (dropout, initial weights) a function of these two from here on.
struct StepSeed {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};
void seed_torch(const StepSeed& seed);
// The same for the weights that a new model begins with.
void seed_first_weights(std::uint64_t seed);

}  // namespace outlast::trainers
