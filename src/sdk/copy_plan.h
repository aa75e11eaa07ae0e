#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outlast::sdk {

// A part of the state: where it is in a snapshot, and where in the trainer's memory.
struct Piece {
  std::uint64_t offset = 0;
  std::byte* memory = nullptr;
  std::uint64_t bytes = 0;
};

// What is to be copied, cut into shares that take about the same time each: large tensors are cut,
// tiny ones are put together. Immutable after construction.
class CopyPlan {
 public:
  CopyPlan() = default;
  explicit CopyPlan(const std::vector<Piece>& pieces);

  std::size_t shares() const { return ends_.size(); }
  std::span<const Piece> share(std::size_t number) const;
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;      // neighbours are one; none is larger than a share
  std::vector<std::size_t> ends_;  // of the shares, in pieces_
};

}  // namespace outlast::sdk
