#include "trainers/data/order.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.h"

namespace outlast::trainers {
namespace {

// Every bit of the result depends on every bit of `value`. The constants are those that splitmix64
// is known by.
std::uint64_t scrambled(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace

std::uint64_t mix_seed(const SeedParts& parts) {
  return scrambled(scrambled(scrambled(parts.a) ^ parts.b) ^ parts.c);
}

std::vector<std::uint32_t> epoch_order(const EpochOrder& order) {
  std::vector<std::uint32_t> visited(order.count);
  std::iota(visited.begin(), visited.end(), 0U);
  Random random(mix_seed({.a = order.seed, .b = order.epoch, .c = order.count}));
  for (std::size_t left = visited.size(); left > 1; --left) {
    std::swap(visited[left - 1], visited[random.below(left)]);
  }
  return visited;
}

}  // namespace outlast::trainers
