#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace outlast {

// The only source of chance. Seeded once (in main(), or by the simulator) and passed by reference;
// the same seed gives the same draws on every compiler and build type, which is why the standard
// library's distributions, whose output is unspecified, are not used.
// Confined to its owner: give each thread its own with fork().
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high);
  // Uniform in [0, 1), 53 bits.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // True with this probability.
  bool chance(double probability) { return unit() < probability; }
  // A generator of its own, seeded from this one.
  Random fork() { return Random(next()); }

 private:
  std::mt19937_64 engine_;  // the standard fixes its output exactly
};

// `length` characters of lower-case base 32 without i, l, o and u: 5 bits each, safe in any path,
// URL or bucket key, hard to misread.
std::string make_token(Random& random, std::size_t length);

}  // namespace outlast
