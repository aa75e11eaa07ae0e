#include "stand_in/gce_stand_in.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "stand_in/testing/stand_in_rig.h"
#include "sys/http.h"

namespace outlast::stand_in {
namespace {

using testing::header;
using testing::StandInRig;

const sys::HttpHeaders kFlavor = {{"Metadata-Flavor", "Google"}};
const std::string kV1 = "/computeMetadata/v1/";

TEST(GceStandIn, IsAsStrictAsTheRealOne) {
  struct Case {
    std::string method;
    std::string target;
    sys::HttpHeaders headers;
    int status;
  };
  const std::vector<Case> cases = {
      {"GET", kV1 + "instance/preempted", kFlavor, 200},
      {"HEAD", kV1 + "instance/preempted", kFlavor, 200},
      {"GET", kV1 + "/instance//preempted", kFlavor, 200},
      {"GET", kV1 + "instance/preempted", {}, 403},
      {"GET", kV1 + "instance/preempted", {{"Metadata-Flavor", "google"}}, 403},
      {"GET", kV1 + "instance/preempted", {{"Metadata", "true"}}, 403},
      {"GET",
       kV1 + "instance/preempted",
       {{"Metadata-Flavor", "Google"}, {"X-Forwarded-For", "10.0.0.1"}},
       403},
      {"GET", "/", {}, 200},
      {"GET", "/", {{"X-Forwarded-For", "10.0.0.1"}}, 403},
      {"GET", kV1 + "instance/no-such-key", kFlavor, 404},
      {"GET", kV1 + "instance/preempted/", kFlavor, 404},
      {"GET", kV1 + "instance/attributes/no-such", kFlavor, 404},
      {"GET", "/computeMetadata/v9/instance/preempted", kFlavor, 404},
      {"GET", "/latest/meta-data/", kFlavor, 404},
      {"GET", kV1 + "instance", kFlavor, 301},
      {"GET", kV1 + "instance/?alt=xml", kFlavor, 400},
      {"GET", kV1 + "instance/preempted?wait_for_change=true&timeout_sec=soon", kFlavor, 400},
      {"GET", kV1 + "instance/%zz", kFlavor, 400},
      {"POST", kV1 + "instance/preempted", kFlavor, 405},
      {"PUT", kV1 + "instance/preempted", kFlavor, 405},
      {"DELETE", kV1 + "instance/preempted", kFlavor, 405},
      {"POST", kV1 + "instance/preempted", {}, 403}};
  StandInRig rig("gce");
  for (const Case& one : cases) {
    const auto answer =
        rig.ask({.method = one.method, .target = one.target, .headers = one.headers});
    EXPECT_EQ(answer.status, one.status) << one.method << " " << one.target;
    EXPECT_FALSE(header(answer, "Date").empty());
    if (one.target.find("%zz") != std::string::npos) continue;
    EXPECT_EQ(header(answer, "Metadata-Flavor"), "Google") << one.target;
    if (answer.status != 301) {
      EXPECT_FALSE(header(answer, "ETag").empty()) << one.target;
    }
  }
}

TEST(GceStandIn, ValuesAreTextWithoutALineEnd) {
  StandInRig rig("gce");
  const std::vector<std::pair<std::string, std::string>> values = {
      {"instance/preempted", "FALSE"},
      {"instance/maintenance-event", "NONE"},
      {"instance/scheduling/preemptible", "TRUE"},
      {"instance/name", "stand-in-1"},
      {"instance/zone", "projects/123456789012/zones/us-central1-a"},
      {"instance/machine-type", "projects/123456789012/machineTypes/n2-standard-8"},
      {"instance/tags", R"(["spot","stand-in"])"},
      {"instance/name?alt=json", "\"stand-in-1\""},
      {"project/project-id", "outlast-stand-in"},
      {"project/numeric-project-id", "123456789012"}};
  for (const auto& [key, value] : values) {
    EXPECT_EQ(rig.get(kV1 + key, kFlavor).body, value) << key;
  }
}

TEST(GceStandIn, FoldersAreListedAndTreesAreJsonOrText) {
  StandInRig rig("gce");
  EXPECT_EQ(rig.get(kV1, kFlavor).body, "instance/\nproject/\n");
  EXPECT_EQ(rig.get(kV1 + "instance/scheduling/", kFlavor).body,
            "automatic-restart\non-host-maintenance\npreemptible\n");
  EXPECT_EQ(rig.get(kV1 + "instance/scheduling/?recursive=true", kFlavor).body,
            R"({"automaticRestart":"FALSE","onHostMaintenance":"TERMINATE","preemptible":"TRUE"})");
  EXPECT_EQ(rig.get(kV1 + "instance/scheduling/?recursive=true&alt=text", kFlavor).body,
            "automatic-restart FALSE\non-host-maintenance TERMINATE\npreemptible TRUE\n");
  EXPECT_EQ(rig.get(kV1 + "instance/attributes/?recursive=true", kFlavor).body,
            R"({"outlast-stand-in":"true"})");
  const auto whole = rig.get(kV1 + "?recursive=true&alt=json", kFlavor);
  EXPECT_EQ(header(whole, "Content-Type"), "application/json");
  EXPECT_EQ(whole.body.find("ya29"), std::string::npos);  // a token is no part of a tree
  const auto json = parse_json(whole.body);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["instance"]["id"], 4711000000000000001U);
  EXPECT_EQ((*json)["instance"]["tags"], (Json::array({"spot", "stand-in"})));
}

TEST(GceStandIn, ATokenIsGivenToWhoeverAsksForIt) {
  StandInRig rig("gce");
  const auto answer = rig.get(kV1 + "instance/service-accounts/default/token?scopes=a,b", kFlavor);
  const auto json = parse_json(answer.body);
  ASSERT_TRUE(json) << answer.body;
  EXPECT_EQ((*json)["token_type"], "Bearer");
  EXPECT_TRUE((*json)["expires_in"].is_number());
}

TEST(GceStandIn, WhatIsAnnouncedIsSaidUntilItIsWithdrawn) {
  StandInRig rig("gce");
  const auto said = [&] {
    return rig.get(kV1 + "instance/preempted", kFlavor).body + " " +
           rig.get(kV1 + "instance/maintenance-event", kFlavor).body;
  };
  const std::string before = header(rig.get(kV1 + "instance/preempted", kFlavor), "ETag");
  rig.stand_in().announce(std::chrono::seconds(30));
  EXPECT_EQ(said(), "TRUE NONE");
  EXPECT_NE(header(rig.get(kV1 + "instance/preempted", kFlavor), "ETag"), before);
  rig.stand_in().withdraw();
  EXPECT_EQ(said(), "FALSE NONE");
  rig.happen("maintenance TERMINATE_ON_HOST_MAINTENANCE");
  EXPECT_EQ(said(), "FALSE TERMINATE_ON_HOST_MAINTENANCE");
  rig.happen("junk");
  EXPECT_EQ(said(), "PERHAPS TERMINATE_ON_HOST_MAINTENANCE");
  rig.happen("withdraw");
  EXPECT_EQ(said(), "FALSE NONE");
}

TEST(GceStandIn, TheEnvironmentNamesAHostWithoutAScheme) {
  StandInRig rig("gce");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"GCE_METADATA_HOST", "127.0.0.1:1234"}, {"GCE_METADATA_IP", "127.0.0.1:1234"}};
  EXPECT_EQ(rig.stand_in().environment("http://127.0.0.1:1234"), expected);
}

TEST(GceStandIn, ARefusalIsToldOfOnce) {
  StandInRig rig("gce");
  for (int i = 0; i < 3; ++i) rig.get(kV1 + "instance/preempted?x=secret");
  const std::vector<std::string> expected = {
      "refused: GET /computeMetadata/v1/instance/preempted is refused with 403: the header "
      "'Metadata-Flavor: Google' is missing"};
  EXPECT_EQ(rig.heard, expected);
}

}  // namespace
}  // namespace outlast::stand_in
