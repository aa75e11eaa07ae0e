#include "sdk/copy_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outlast::sdk {
namespace {

// Small enough that nobody waits long for the last one, and large enough that taking one costs
// nothing.
constexpr std::uint64_t kShareBytes = 2U << 20U;
// What it costs to find a piece at all, in bytes that could have been copied meanwhile.
constexpr std::uint64_t kPieceCost = 256;

bool are_neighbours(const Piece& left, const Piece& right) {
  return left.offset + left.bytes == right.offset && left.memory + left.bytes == right.memory;
}

}  // namespace

CopyPlan::CopyPlan(const std::vector<Piece>& pieces) {
  std::vector<Piece> joined;
  for (const Piece& piece : pieces) {
    if (piece.bytes == 0) continue;
    if (!joined.empty() && are_neighbours(joined.back(), piece)) {
      joined.back().bytes += piece.bytes;
    } else {
      joined.push_back(piece);
    }
  }
  std::uint64_t cost = 0;  // of the share that is being filled
  for (const Piece& piece : joined) {
    for (std::uint64_t done = 0; done < piece.bytes;) {
      const std::uint64_t room = kShareBytes > cost ? kShareBytes - cost : 1;
      const std::uint64_t bytes = std::min(piece.bytes - done, room);
      pieces_.push_back(
          {.offset = piece.offset + done, .memory = piece.memory + done, .bytes = bytes});
      done += bytes;
      cost += bytes + kPieceCost;
      if (cost < kShareBytes) continue;
      ends_.push_back(pieces_.size());
      cost = 0;
    }
  }
  if (cost > 0) ends_.push_back(pieces_.size());
}

std::span<const Piece> CopyPlan::share(std::size_t number) const {
  const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
  return std::span(pieces_).subspan(begin, ends_[number] - begin);
}

}  // namespace outlast::sdk
