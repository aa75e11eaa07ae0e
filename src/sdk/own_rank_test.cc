#include "sdk/own_rank.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sdk/snapshots.h"

namespace outlast::sdk {
namespace {

using Environment = std::map<std::string, std::string>;
using Pair = std::pair<std::uint32_t, std::uint32_t>;

// Rank and ranks of a process that has these variables.
Pair found_in(const Environment& variables) {
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  std::optional<OwnRank> own;
  try {
    own = find_own_rank({}, {});
  } catch (const SnapshotError&) {
    EXPECT_FALSE(own);
  }
  for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  if (!own) return {99, 99};
  return {own->rank, own->ranks};
}

constexpr Pair kAlone{0, 1};
constexpr Pair kRefused{99, 99};

TEST(OwnRank, AnEmptyVariableIsAsNone) {
  EXPECT_EQ(found_in({{"RANK", "2"}, {"WORLD_SIZE", "4"}}), (Pair{2, 4}));
  EXPECT_EQ(found_in({{"RANK", ""}, {"WORLD_SIZE", "4"}}), kAlone);
  EXPECT_EQ(found_in({{"RANK", "2"}, {"WORLD_SIZE", ""}}), kAlone);
  EXPECT_EQ(found_in({{"RANK", ""},
                      {"WORLD_SIZE", ""},
                      {"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"}}),
            (Pair{1, 2}));
  EXPECT_EQ(found_in({{"RANK", " 2"}, {"WORLD_SIZE", "4"}}), kRefused);
  EXPECT_EQ(found_in({{"RANK", "4"}, {"WORLD_SIZE", "4"}}), kRefused);
}

TEST(OwnRank, OnlyWhatSrunHasStartedIsARankOfSlurm) {
  const auto slurm = [](const std::optional<std::string>& step) {
    Environment variables = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}};
    if (step) variables["SLURM_STEP_ID"] = *step;
    return found_in(variables);
  };
  EXPECT_EQ(slurm("0"), (Pair{0, 8}));
  EXPECT_EQ(slurm("17"), (Pair{0, 8}));
  EXPECT_EQ(slurm({}), kAlone);
  EXPECT_EQ(slurm(""), kAlone);
  EXPECT_EQ(slurm("batch"), kAlone);
  EXPECT_EQ(slurm("interactive"), kAlone);
  EXPECT_EQ(slurm("4294967291"), kAlone);  // a batch script, as a number
}

}  // namespace
}  // namespace outlast::sdk
