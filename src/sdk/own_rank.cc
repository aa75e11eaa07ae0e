#include "sdk/own_rank.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>

#include "sdk/snapshots.h"

namespace outlast::sdk {
namespace {

struct Launcher {
  const char* rank;
  const char* ranks;
};

constexpr Launcher kLaunchers[] = {
    {.rank = "RANK", .ranks = "WORLD_SIZE"},
    {.rank = "SLURM_PROCID", .ranks = "SLURM_NTASKS"},
    {.rank = "OMPI_COMM_WORLD_RANK", .ranks = "OMPI_COMM_WORLD_SIZE"},
};

std::uint32_t number_of(const char* name, const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) {
    throw SnapshotError(std::string(name) + " is '" + text +
                        "' in the environment, which is no number of a process: unset it, or give "
                        "SnapshotOptions::rank and ranks");
  }
  return number;
}

OwnRank checked(OwnRank own) {
  if (own.rank < own.ranks) return own;
  throw SnapshotError("rank " + std::to_string(own.rank) + " of " + std::to_string(own.ranks) +
                      ": ranks count from 0, and must be below their number");
}

}  // namespace

OwnRank find_own_rank(std::optional<std::uint32_t> rank, std::optional<std::uint32_t> ranks) {
  if (rank.has_value() != ranks.has_value()) {
    throw SnapshotError("SnapshotOptions has only one of rank and ranks: give both, or neither");
  }
  if (rank) return checked({.rank = *rank, .ranks = *ranks});
  for (const Launcher& launcher : kLaunchers) {
    const char* const own = std::getenv(launcher.rank);
    const char* const all = std::getenv(launcher.ranks);
    if (own == nullptr || all == nullptr) continue;
    return checked(
        {.rank = number_of(launcher.rank, own), .ranks = number_of(launcher.ranks, all)});
  }
  return {};
}

}  // namespace outlast::sdk
