#include "notice/cloud_places.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "job/place_facts.h"
#include "notice/testing/cloud_scene.h"
#include "notice/testing/fake_clouds.h"

namespace outlast::notice {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::CloudScene;
using testing::FakeAzure;
using testing::FakeEc2;
using testing::FakeGce;
using testing::Story;

TEST(CloudPlaces, GoogleTellsWhereWeAre) {
  CloudScene scene("gce");
  FakeGce gce(scene);
  gce.values.insert({{"instance/zone", "projects/7/zones/us-central1-a"},
                     {"instance/machine-type", "projects/7/machineTypes/n2-standard-8"},
                     {"instance/id", "4711"},
                     {"instance/name", "trainer-1"},
                     {"instance/scheduling/preemptible", "TRUE"},
                     {"instance/service-accounts/default/email", "t@p.iam.example.com"},
                     {"instance/tags", R"(["spot","http-server"])"},
                     {"instance/attributes/startup-script", "pLaNtEd"},
                     {"project/project-id", "my-project"}});
  const Story story = scene.play([&] { scene.wait(seconds(5)); });
  const job::PlaceFacts wanted = {.cloud = "gcp",
                                  .region = "us-central1",
                                  .zone = "us-central1-a",
                                  .machine = "n2-standard-8",
                                  .instance = "4711",
                                  .name = "trainer-1",
                                  .spot = true,
                                  .account = "my-project",
                                  .identity = "t@p.iam.example.com",
                                  .tags = {{"http-server", ""}, {"spot", ""}}};
  EXPECT_EQ(story.place, wanted);
  for (const std::string& request : story.requests) {
    EXPECT_EQ(request.find("attributes"), std::string::npos) << request;
    EXPECT_EQ(request.find("recursive"), std::string::npos) << request;
    EXPECT_EQ(request.find("token"), std::string::npos) << request;
  }
}

TEST(CloudPlaces, AmazonTellsWhereWeAre) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  ec2.values.insert({{"/latest/meta-data/placement/region", "eu-west-1"},
                     {"/latest/meta-data/placement/availability-zone", "eu-west-1b"},
                     {"/latest/meta-data/instance-type", "g5.xlarge"},
                     {"/latest/meta-data/instance-life-cycle", "spot"},
                     {"/latest/meta-data/iam/security-credentials/", "train-role"},
                     {"/latest/meta-data/iam/security-credentials/train-role", "pLaNtEd"},
                     {"/latest/meta-data/tags/instance/", "Name\nteam a/b"},
                     {"/latest/meta-data/tags/instance/Name", "trainer-1"},
                     {"/latest/meta-data/tags/instance/team%20a%2Fb", "vision"},
                     {"/latest/dynamic/instance-identity/document",
                      R"({"accountId":"123456789012","region":"eu-west-1"})"}});
  const Story story = scene.play([&] { scene.wait(seconds(5)); });
  const job::PlaceFacts wanted = {.cloud = "aws",
                                  .region = "eu-west-1",
                                  .zone = "eu-west-1b",
                                  .machine = "g5.xlarge",
                                  .instance = "i-0abc",
                                  .name = "trainer-1",
                                  .spot = true,
                                  .account = "123456789012",
                                  .identity = "train-role",
                                  .tags = {{"Name", "trainer-1"}, {"team a/b", "vision"}}};
  EXPECT_EQ(story.place, wanted);
  for (const std::string& request : story.requests) {
    EXPECT_EQ(request.find("security-credentials/train-role"), std::string::npos);
    EXPECT_EQ(request.find("user-data"), std::string::npos);
  }
}

TEST(CloudPlaces, AzureTellsWhereWeAre) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  azure.compute = {{"name", "vm-7"},
                   {"vmId", "13f56399"},
                   {"location", "westeurope"},
                   {"zone", "2"},
                   {"vmSize", "Standard_NC6"},
                   {"priority", "Spot"},
                   {"subscriptionId", "8d10da13"},
                   {"userData", "cExhTnRFZA=="},
                   {"tagsList", Json::array({{{"name", "team"}, {"value", "vision"}}, 7})}};
  const Story story = scene.play([&] { scene.wait(seconds(5)); });
  const job::PlaceFacts wanted = {.cloud = "azure",
                                  .region = "westeurope",
                                  .zone = "2",
                                  .machine = "Standard_NC6",
                                  .instance = "13f56399",
                                  .name = "vm-7",
                                  .spot = true,
                                  .account = "8d10da13",
                                  .tags = {{"team", "vision"}}};
  EXPECT_EQ(story.place, wanted);
}

TEST(CloudPlaces, WhatIsMissingStaysEmptyAndAPageIsNoFact) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  ec2.values["/latest/meta-data/instance-type"] = "<html>Please log in</html>";
  ec2.values["/latest/meta-data/placement/region"] = "two\nlines";
  const Story story = scene.play([&] { scene.wait(seconds(5)); });
  EXPECT_EQ(story.place, (job::PlaceFacts{.cloud = "aws", .instance = "i-0abc"}));
}

TEST(CloudPlaces, AServiceThatIsAwayIsAskedAgain) {
  CloudScene scene("gce");
  FakeGce gce(scene);
  gce.values["instance/id"] = "4711";
  const testing::Trouble away = {.name = "503", .answer = sys::HttpResponse{.status = 503}};
  scene.trouble = &away;
  const Story story = scene.play([&] {
    scene.wait(minutes(2));
    EXPECT_FALSE(scene.so_far().place);
    scene.trouble = nullptr;
    scene.wait(minutes(2));
  });
  EXPECT_EQ(story.place, (job::PlaceFacts{.cloud = "gcp", .instance = "4711"}));
}

TEST(CloudPlaces, APodKnowsItself) {
  CloudScene scene("kubernetes");
  scene.variables = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                     {"POD_NAMESPACE", "train"},
                     {"POD_NAME", "trainer-0"},
                     {"NODE_NAME", "gke-spot-1"}};
  const Story story = scene.play([&] { scene.wait(seconds(5)); });
  ASSERT_TRUE(story.place);
  EXPECT_EQ(story.place->cloud, "kubernetes");
  EXPECT_EQ(story.place->name, "trainer-0");
  EXPECT_EQ(story.place->tags.at("kubernetes.node"), "gke-spot-1");
  EXPECT_EQ(story.place->tags.at("kubernetes.namespace"), "train");
}

}  // namespace
}  // namespace outlast::notice
