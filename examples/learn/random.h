#pragma once

#include <cstddef>
#include <cstdint>

namespace learn {

// SplitMix64: the same numbers everywhere, which the distributions of <random> do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }
  std::size_t below(std::size_t limit) { return next() % limit; }
  // In [-1, 1).
  float signed_unit() { return static_cast<float>(next() >> 40U) * 0x1p-23F - 1.0F; }

 private:
  std::uint64_t state_;
};

}  // namespace learn
