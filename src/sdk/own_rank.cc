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
  bool is_slurm = false;
};

constexpr Launcher kLaunchers[] = {
    {.rank = "RANK", .ranks = "WORLD_SIZE"},
    {.rank = "SLURM_PROCID", .ranks = "SLURM_NTASKS", .is_slurm = true},
    {.rank = "OMPI_COMM_WORLD_RANK", .ranks = "OMPI_COMM_WORLD_SIZE"},
};

// Empty is as absent: what a script leaves of a variable that it cannot unset.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::uint32_t> whole_number(const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

std::uint32_t number_of(const char* name, const std::string& text) {
  const auto number = whole_number(text);
  if (!number) {
    throw SnapshotError(std::string(name) + " is '" + text +
                        "' in the environment, which is no number of a process: unset it, or give "
                        "SnapshotOptions::rank and ranks");
  }
  return *number;
}

// A batch script, and the shell of an allocation, have a SLURM_PROCID of 0 and the SLURM_NTASKS of
// all, without being a rank: only what srun has started is one. Steps with a name instead of a
// number are such scripts and shells, and so are the highest numbers, which stand for those names.
bool is_slurm_task() {
  constexpr std::uint32_t kStepsEnd = 0xFFFFFFF0U;
  return whole_number(variable("SLURM_STEP_ID")).value_or(kStepsEnd) < kStepsEnd;
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
    const std::string own = variable(launcher.rank);
    const std::string all = variable(launcher.ranks);
    if (own.empty() || all.empty() || (launcher.is_slurm && !is_slurm_task())) continue;
    return checked(
        {.rank = number_of(launcher.rank, own), .ranks = number_of(launcher.ranks, all)});
  }
  return {};
}

}  // namespace outlast::sdk
