#include "notice/auto_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"
#include "job/place_facts.h"
#include "notice/cloud_sources.h"
#include "notice/place_finder.h"
#include "notice/testing/cloud_scene.h"
#include "notice/testing/fake_clouds.h"
#include "sim/sim_network.h"

namespace outlast::notice {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::CloudScene;
using testing::FakeAzure;
using testing::FakeEc2;
using testing::FakeGce;
using testing::Story;

using Lines = std::vector<std::string>;
using Texts = std::map<std::string, std::string>;

constexpr const char* kVendor = "/sys/class/dmi/id/sys_vendor";
constexpr const char* kProduct = "/sys/class/dmi/id/product_name";
constexpr const char* kChassis = "/sys/class/dmi/id/chassis_asset_tag";

struct GuessCase {
  std::string name = {};
  Texts files = {};
  Texts variables = {};
  PlaceGuess wanted = {};
};

// Guesses on a machine with these files and variables.
PlaceGuess guess(const GuessCase& test) {
  sim::Simulation simulation({.seed = 7});
  sim::Machine& machine = simulation.add_machine("m1");
  machine.environment().variables.insert(test.variables.begin(), test.variables.end());
  PlaceGuess found;
  const sim::Outcome outcome = simulation.run([&] {
    for (const auto& [path, text] : test.files) {
      EXPECT_TRUE(sys::make_dirs(machine.files(), sys::parent_path(path)));
      EXPECT_TRUE(sys::write_file_atomically(machine.files(), path, as_bytes(text)));
    }
    found = guess_place(machine.files(), machine.environment());
  });
  EXPECT_TRUE(outcome.ok) << outcome.failure;
  return found;
}

TEST(PlaceFinder, GuessesByFirmwareAndVariables) {
  const std::vector<Cloud> all = {Cloud::kGce, Cloud::kEc2, Cloud::kAzure};
  const Texts laptop = {{kVendor, "LENOVO\n"}, {kProduct, "20XW\n"}, {kChassis, "none\n"}};
  const std::vector<GuessCase> cases = {
      {.name = "Google",
       .files = {{kVendor, "Google\n"}, {kProduct, "Google Compute Engine\n"}},
       .wanted = {.cloud = Cloud::kGce}},
      {.name = "a laptop of Google's",
       .files = {{kVendor, "Google\n"}, {kProduct, "Eve\n"}},
       .wanted = {}},
      {.name = "Google, off",
       .files = {{kVendor, "Google\n"}},
       .variables = {{"NO_GCE_CHECK", "true"}},
       .wanted = {}},
      {.name = "Amazon", .files = {{kVendor, "Amazon EC2\n"}}, .wanted = {.cloud = Cloud::kEc2}},
      {.name = "Amazon, Xen",
       .files = {{kVendor, "Xen\n"}, {"/sys/hypervisor/uuid", "EC2E1916-9099\n"}},
       .wanted = {.cloud = Cloud::kEc2}},
      {.name = "Amazon, off",
       .files = {{kVendor, "Amazon EC2\n"}},
       .variables = {{"AWS_EC2_METADATA_DISABLED", "true"}},
       .wanted = {}},
      {.name = "Azure",
       .files = {{kVendor, "Microsoft Corporation\n"},
                 {kChassis, "7783-7084-3265-9085-8269-3286-77\n"}},
       .wanted = {.cloud = Cloud::kAzure}},
      {.name = "Hyper-V at home",
       .files = {{kVendor, "Microsoft Corporation\n"}, {kChassis, "1234\n"}},
       .wanted = {}},
      {.name = "a laptop", .files = laptop, .wanted = {}},
      {.name = "nothing to read", .wanted = {.ask = all}},
      {.name = "nothing to read, two off",
       .variables = {{"NO_GCE_CHECK", "true"}, {"AWS_EC2_METADATA_DISABLED", "TRUE"}},
       .wanted = {.ask = {Cloud::kAzure}}},
      {.name = "a laptop with a stand-in",
       .files = laptop,
       .variables = {{"GCE_METADATA_HOST", "127.0.0.1:1"}},
       .wanted = {.ask = {Cloud::kGce}}},
      {.name = "a stand-in on a machine of another cloud",
       .files = {{kVendor, "Amazon EC2\n"}},
       .variables = {{"OUTLAST_AZURE_METADATA_ENDPOINT", "http://127.0.0.1:1"}},
       .wanted = {.ask = {Cloud::kAzure}}},
      {.name = "two variables",
       .files = laptop,
       .variables = {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1"},
                     {"GCE_METADATA_URL", "http://127.0.0.1:2"},
                     {"GCE_METADATA_HOST", ""}},
       .wanted = {.ask = {Cloud::kGce, Cloud::kEc2}}}};
  for (const GuessCase& test : cases) EXPECT_EQ(guess(test), test.wanted) << test.name;
}

// Whatever the firmware says, the true notice is heard.
TEST(AutoSource, FindsGoogle) {
  for (const Texts& files : {Texts{}, Texts{{kProduct, "Google Compute Engine\n"}}}) {
    CloudScene scene("auto");
    scene.files = files;
    FakeGce gce(scene);
    const Story story = scene.play([&] {
      scene.wait(seconds(2));
      gce.values["instance/preempted"] = "TRUE";
      scene.wait(seconds(2));
    });
    EXPECT_EQ(story.sources(), Lines{"gce"});
    EXPECT_EQ(story.logged, Lines{"notice.place_found"});
  }
}

TEST(AutoSource, FindsAmazon) {
  for (const Texts& files : {Texts{}, Texts{{kVendor, "Amazon EC2\n"}}}) {
    CloudScene scene("auto");
    scene.files = files;
    FakeEc2 ec2(scene);
    const Story story = scene.play([&] {
      scene.wait(seconds(2));
      ec2.announce(minutes(2));
      scene.wait(seconds(4));
    });
    EXPECT_EQ(story.sources(), Lines{"ec2"});
    EXPECT_EQ(story.logged, Lines{"notice.place_found"});
  }
}

TEST(AutoSource, FindsAzureAndReleasesWhatItAnnounced) {
  for (const Texts& files : {Texts{}, Texts{{kChassis, "7783-7084-3265-9085-8269-3286-77"}}}) {
    CloudScene scene("auto");
    scene.files = files;
    FakeAzure azure(scene);
    const Story story = scene.play([&] {
      scene.wait(seconds(2));
      azure.announce(seconds(60));
      scene.wait(seconds(2));
      scene.release();
    });
    EXPECT_EQ(story.sources(), Lines{"azure"});
    EXPECT_EQ(story.released, Lines{"told Azure to go ahead with event e-1"});
    EXPECT_EQ(azure.started, Lines{"e-1"});
  }
}

TEST(AutoSource, ALaptopAsksNobody) {
  CloudScene scene("auto");
  scene.files = {{kVendor, "LENOVO\n"}};
  FakeGce gce(scene);
  const Story story = scene.play([&] {
    gce.values["instance/preempted"] = "TRUE";
    scene.wait(minutes(30));
    scene.release();
  });
  EXPECT_TRUE(story.requests.empty());
  EXPECT_TRUE(story.logged.empty());
  EXPECT_TRUE(story.notices.empty());
  EXPECT_FALSE(story.place);
  EXPECT_EQ(story.released, Lines{""});
}

TEST(AutoSource, WhereNobodyAnswersItAsksLessAndLess) {
  CloudScene scene("auto");
  scene.service = [](const sys::HttpServerRequest&) { return sys::HttpResponse{.status = 404}; };
  const Story story = scene.play([&] { scene.wait(minutes(60)); });
  EXPECT_TRUE(story.logged.empty());
  EXPECT_FALSE(story.place);
  EXPECT_GT(story.requests.size(), 30U);
  EXPECT_LT(story.requests.size(), 150U) << "of all three";
}

TEST(AutoSource, WhereEverythingHangsItStillListensLater) {
  CloudScene scene("auto");
  FakeEc2 ec2(scene);
  const testing::Trouble silence = {.name = "silence", .fate = sim::Fate::kStalls};
  scene.trouble = &silence;
  const Story story = scene.play([&] {
    scene.wait(minutes(10));
    scene.trouble = nullptr;
    scene.wait(minutes(6));
    ec2.announce(minutes(2));
    scene.wait(seconds(10));
  });
  EXPECT_EQ(story.sources(), Lines{"ec2"});
}

TEST(AutoSource, AServiceThatComesUpLateIsFound) {
  CloudScene scene("auto");
  scene.files = {{kVendor, "LENOVO\n"}};
  scene.variables["GCE_METADATA_HOST"] = "stand-in:8080";
  scene.where = "http://stand-in:8080";
  FakeGce gce(scene);
  gce.values["instance/preempted"] = "TRUE";
  const Story story = scene.play([&] {
    scene.network().stop_serving(scene.where);
    scene.wait(seconds(20));
    scene.serve();
    scene.wait(seconds(20));
  });
  EXPECT_EQ(story.sources(), Lines{"gce"});
}

TEST(AutoSource, InAPodItKnowsThePodAndItsCloud) {
  CloudScene scene("auto");
  scene.files = {{kProduct, "Google Compute Engine\n"},
                 {"/var/run/secrets/kubernetes.io/serviceaccount/namespace", "train\n"}};
  scene.variables = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"HOSTNAME", "trainer-0"}};
  FakeGce gce(scene);
  gce.values["instance/zone"] = "projects/7/zones/us-central1-a";
  const Story story = scene.play([&] { scene.wait(seconds(5)); });
  ASSERT_TRUE(story.place);
  EXPECT_EQ(story.place->cloud, "gcp");
  EXPECT_EQ(story.place->zone, "us-central1-a");
  EXPECT_EQ(story.place->tags.at("kubernetes.namespace"), "train");
  EXPECT_EQ(story.place->tags.at("kubernetes.pod"), "trainer-0");
}

}  // namespace
}  // namespace outlast::notice
