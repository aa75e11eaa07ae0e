#include "trainers/torch/torch_run.h"

#include <algorithm>

#include "trainers/torch/torch_headers.h"

namespace outlast::trainers {

void use_threads(unsigned threads) {
  at::set_num_threads(static_cast<int>(std::max(threads, 1U)));
}

void seed_torch(const StepSeed& seed) {
  // A bijection of 64 bits that spreads neighbours far apart (the finaliser of splitmix64): the
  // sequences of two steps, or of two seeds, have nothing to do with each other.
  const auto spread = [](std::uint64_t bits) {
    bits ^= bits >> 30U;
    bits *= 0xbf58476d1ce4e5b9U;
    bits ^= bits >> 27U;
    bits *= 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
  };
  torch::manual_seed(spread(spread(seed.seed + 0x9e3779b97f4a7c15U) + seed.step));
}

void seed_first_weights(std::uint64_t seed) {
  seed_torch({.seed = seed, .step = ~std::uint64_t{0}});
}

}  // namespace outlast::trainers
