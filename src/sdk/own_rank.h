#pragma once

#include <cstdint>
#include <optional>

namespace outlast::sdk {

// Which process of the job this is, and of how many.
struct OwnRank {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
};

// What is given counts; else what a launcher has put into the environment; else 0 of 1. An empty
// variable is as none, and Slurm's count only in what srun has started. Throws
// SnapshotError if only one of the two is given, or the rank is not below the number of ranks.
OwnRank find_own_rank(std::optional<std::uint32_t> rank, std::optional<std::uint32_t> ranks);

}  // namespace outlast::sdk
