#include "base/random.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/check.h"

namespace outlast {

std::uint64_t Random::below(std::uint64_t bound) {
  OUTLAST_CHECK(bound > 0, "below({})", bound);
  // Draws from the incomplete last group of `bound` values would favour small results: draw again.
  const std::uint64_t excess = (std::numeric_limits<std::uint64_t>::max() % bound + 1) % bound;
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max() - excess;
  std::uint64_t draw = next();
  while (draw > last) draw = next();
  return draw % bound;
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  OUTLAST_CHECK(low <= high, "between({}, {})", low, high);
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t offset =
      span == std::numeric_limits<std::uint64_t>::max() ? next() : below(span + 1);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

std::string make_token(Random& random, std::size_t length) {
  constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  static_assert(kAlphabet.size() == 32);
  std::string token(length, '0');
  for (char& c : token) c = kAlphabet[random.next() >> 59];
  return token;
}

}  // namespace outlast
