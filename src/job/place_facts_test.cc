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

}  // namespace
}  // namespace outlast::job
