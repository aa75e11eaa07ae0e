#include "job/place_facts.h"

#include <gtest/gtest.h>

namespace outlast::job {
namespace {

TEST(PlaceFacts, AreDescribedByWhatIsKnown) {
  EXPECT_EQ(describe({.cloud = "gcp",
                      .region = "us-central1",
                      .zone = "us-central1-a",
                      .machine = "n2-standard-8",
                      .spot = true}),
            "a spot n2-standard-8 of gcp in us-central1-a");
  EXPECT_EQ(describe({.cloud = "azure", .region = "eastus", .spot = false}),
            "a machine of azure in eastus");
  EXPECT_EQ(describe({.cloud = "kubernetes"}), "a machine of kubernetes");
}

TEST(PlaceFacts, OfAJobInAClusterOnACloudAreBoth) {
  const PlaceFacts cloud = {.cloud = "aws", .zone = "eu-west-1b", .tags = {{"team", "vision"}}};
  const PlaceFacts slurm = {.cloud = "slurm", .zone = "spot", .tags = {{"slurm.job", "42"}}};
  for (const PlaceFacts& both : {merged(cloud, slurm), merged(slurm, cloud)}) {
    EXPECT_EQ(both.cloud, "aws");
    EXPECT_EQ(both.zone, "eu-west-1b");
    EXPECT_EQ(both.tags.at("slurm.job"), "42");
    EXPECT_EQ(both.tags.at("team"), "vision");
  }
  EXPECT_EQ(merged({}, slurm), slurm);
}

}  // namespace
}  // namespace outlast::job
