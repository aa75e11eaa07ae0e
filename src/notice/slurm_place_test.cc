#include "notice/slurm_place.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/time.h"
#include "job/place_facts.h"
#include "sim/sim_surroundings.h"

namespace outlast::notice {
namespace {

TEST(SlurmPlace, IsWhatTheEnvironmentSays) {
  sim::SimEnvironment environment;
  environment.variables = {{"SLURM_JOB_ID", "42"},          {"SLURM_JOB_PARTITION", "spot"},
                           {"SLURMD_NODENAME", "n17"},      {"SLURM_JOB_ACCOUNT", "biology"},
                           {"SLURM_CLUSTER_NAME", "hydra"}, {"SLURM_RESTART_COUNT", "3"},
                           {"SLURM_JOB_END_TIME", "1800"}};
  const SlurmPlace place = slurm_place(environment).value_or(SlurmPlace());
  EXPECT_EQ(place.job, "42");
  EXPECT_EQ(place.restarts, 3U);
  EXPECT_EQ(place.ends, WallTime(std::chrono::seconds(1800)));
  EXPECT_EQ(place.facts, (job::PlaceFacts{.cloud = "slurm",
                                          .region = "hydra",
                                          .zone = "spot",
                                          .instance = "42",
                                          .name = "n17",
                                          .account = "biology",
                                          .tags = {{"slurm.job", "42"}}}));
}

TEST(SlurmPlace, OfAnArrayOnlyTheOwnTaskIsMeant) {
  sim::SimEnvironment environment;
  // The last task has the number of the whole array.
  environment.variables = {
      {"SLURM_JOB_ID", "40"}, {"SLURM_ARRAY_JOB_ID", "40"}, {"SLURM_ARRAY_TASK_ID", "2"}};
  const SlurmPlace place = slurm_place(environment).value_or(SlurmPlace());
  EXPECT_EQ(place.job, "40_2");
  EXPECT_EQ(place.restarts, 0U);
  EXPECT_EQ(slurm_array_suffix(environment), "-2");
}

TEST(SlurmPlace, ElsewhereThereIsNone) {
  sim::SimEnvironment environment;
  EXPECT_FALSE(slurm_place(environment));
  EXPECT_EQ(slurm_array_suffix(environment), "");
  environment.variables = {{"SLURM_JOB_ID", "--help"}, {"SLURM_ARRAY_TASK_ID", "a/b"}};
  EXPECT_FALSE(slurm_place(environment));
  EXPECT_EQ(slurm_array_suffix(environment), "");
}

}  // namespace
}  // namespace outlast::notice
