// The stand-ins and our own clients of the real services agree.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cloud/aws_instance_metadata.h"
#include "cloud/azure_managed_identity.h"
#include "cloud/gcp_metadata_credentials.h"
#include "sim/kernel.h"
#include "sim/simulation.h"
#include "stand_in/happening.h"
#include "stand_in/metadata_stand_in.h"
#include "sys/world.h"

namespace outlast::stand_in {
namespace {

// Runs on a machine whose environment is as the stand-in wants it.
void run_beside(const std::string& cloud,
                const std::function<void(sys::World&, MetadataStandIn&)>& body) {
  sim::Simulation simulation({.seed = 5});
  auto stand_in = make_stand_in(cloud, simulation.clock(), simulation.threads());
  ASSERT_TRUE(stand_in);
  const std::string url = "http://10.1.2.3:4711";
  simulation.network().serve(url, (*stand_in)->handler());
  sim::Machine& machine = simulation.add_machine("m1");
  for (const auto& [name, value] : (*stand_in)->environment(url)) {
    machine.environment().variables[name] = value;
  }
  const sim::Outcome outcome = simulation.run(
      [&] { machine.boot([&](sys::World& world) { body(world, **stand_in); }, {}); });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
}

TEST(CredentialClients, TheRoleOfAnEc2MachineIsFound) {
  run_beside("ec2", [](sys::World& world, MetadataStandIn& stand_in) {
    cloud::AwsInstanceMetadata metadata(world);
    const auto keys = metadata.role_keys({});
    ASSERT_TRUE(keys) << keys.error().to_string();
    ASSERT_TRUE(*keys) << metadata.absence();
    EXPECT_EQ((*keys)->value.access_key_id, "ASIASTANDINNOTAREALKEY");
    EXPECT_EQ((*keys)->origin, "role 'outlast-stand-in-role' of this instance");
    EXPECT_GT((*keys)->lifetime, std::chrono::hours(5));
    EXPECT_EQ(metadata.region({}).value_or(""), "eu-west-1");
    // A token that has expired is replaced, whatever its client thinks of it.
    (void)world.clock.sleep_for(std::chrono::hours(7), {});
    EXPECT_EQ(metadata.region({}).value_or(""), "eu-west-1");
    EXPECT_TRUE(stand_in.happen({.word = "ahead", .time = std::chrono::hours(1)}));
    const auto again = metadata.role_keys({});
    ASSERT_TRUE(again) << again.error().to_string();
    ASSERT_TRUE(*again);
    EXPECT_LT((*again)->lifetime, std::chrono::hours(7));
  });
}

TEST(CredentialClients, WhereATokenHangsTheHopLimitIsNamed) {
  run_beside("ec2", [](sys::World& world, MetadataStandIn& stand_in) {
    EXPECT_TRUE(stand_in.happen({.word = "hang", .path = "/latest/api/token"}));
    cloud::AwsInstanceMetadata metadata(world);
    const auto keys = metadata.role_keys({});
    ASSERT_TRUE(keys) << keys.error().to_string();
    EXPECT_FALSE(*keys);
    EXPECT_NE(metadata.absence().find("hop limit"), std::string::npos) << metadata.absence();
  });
}

TEST(CredentialClients, TheServiceAccountOfAGoogleMachineIsFound) {
  run_beside("gce", [](sys::World& world, MetadataStandIn&) {
    cloud::GcpMetadataCredentials metadata(world);
    const auto token = metadata.fetch("https://www.googleapis.com/auth/devstorage.read_write", {});
    ASSERT_TRUE(token) << token.error().to_string();
    ASSERT_TRUE(*token);
    EXPECT_EQ((*token)->value.token.reveal(), "ya29.stand-in-not-a-real-token");
    EXPECT_EQ((*token)->lifetime, std::chrono::seconds(3599));
  });
}

TEST(CredentialClients, TheIdentityOfAnAzureMachineIsFound) {
  run_beside("azure", [](sys::World& world, MetadataStandIn&) {
    cloud::AzureManagedIdentity metadata(world);
    const auto token = metadata.fetch({});
    ASSERT_TRUE(token) << token.error().to_string();
    ASSERT_TRUE(*token);
    EXPECT_EQ((*token)->value.token.reveal(), "stand-in-not-a-real-token");
    EXPECT_GT((*token)->lifetime, std::chrono::hours(20));
  });
}

}  // namespace
}  // namespace outlast::stand_in
