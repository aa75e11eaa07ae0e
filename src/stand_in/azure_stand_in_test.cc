#include "stand_in/azure_stand_in.h"

#include <gtest/gtest.h>

#include <chrono>
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

const sys::HttpHeaders kMetadata = {{"Metadata", "true"}};
const std::string kEvents = "/metadata/scheduledevents?api-version=2020-07-01";
const std::string kInstance = "/metadata/instance";

class Azure : public StandInRig {
 public:
  Azure() : StandInRig("azure") {}

  Json json(const std::string& target) {
    const auto answer = get(target, kMetadata);
    EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
    return parse_json(answer.body).value_or(Json());
  }
  int post(const std::string& body) {
    return ask({.method = "POST", .target = kEvents, .headers = kMetadata, .body = body}).status;
  }
};

TEST(AzureStandIn, IsAsStrictAsTheRealOne) {
  struct Case {
    std::string method;
    std::string target;
    sys::HttpHeaders headers;
    int status;
  };
  const std::vector<Case> cases = {
      {"GET", kEvents, kMetadata, 200},
      {"GET", kEvents, {{"metadata", "True"}}, 200},
      {"GET", kEvents, {}, 400},
      {"GET", kEvents, {{"Metadata", "yes"}}, 400},
      {"GET", kEvents, {{"Metadata", "true"}, {"X-Forwarded-For", "10.0.0.1"}}, 400},
      {"GET", "/metadata/scheduledevents", kMetadata, 400},
      {"GET", "/metadata/scheduledevents?api-version=2020-07-02", kMetadata, 400},
      {"GET", "/metadata/scheduledevents?api-version=", kMetadata, 400},
      {"GET", kInstance, kMetadata, 400},
      {"GET", kInstance + "?api-version=2021-02-01", kMetadata, 200},
      {"GET", kInstance + "/compute?api-version=2021-02-01", kMetadata, 200},
      {"GET", kInstance + "/compute?api-version=2021-02-02", kMetadata, 400},
      {"GET", kInstance + "/compute/name?api-version=2021-02-01&format=text", kMetadata, 200},
      {"GET", kInstance + "/compute/name?api-version=2021-02-01", kMetadata, 400},
      {"GET", kInstance + "/compute/no-such?api-version=2021-02-01", kMetadata, 404},
      {"GET", "/metadata/no-such?api-version=2021-02-01", kMetadata, 404},
      {"GET", "/latest/meta-data/", kMetadata, 404},
      {"GET", "/metadata/identity/oauth2/token?api-version=2018-02-01", kMetadata, 400},
      {"GET", "/metadata/identity/oauth2/token?resource=x", kMetadata, 400},
      {"POST", kInstance + "?api-version=2021-02-01", kMetadata, 405},
      {"PUT", kEvents, kMetadata, 405}};
  Azure rig;
  for (const Case& one : cases) {
    const auto answer =
        rig.ask({.method = one.method, .target = one.target, .headers = one.headers});
    EXPECT_EQ(answer.status, one.status) << one.method << " " << one.target << ": " << answer.body;
    EXPECT_FALSE(header(answer, "Date").empty());
    if (answer.status >= 400) {
      EXPECT_TRUE(parse_json(answer.body)) << answer.body;
    }
  }
  const auto wrong = parse_json(rig.get("/metadata/scheduledevents?api-version=1", kMetadata).body);
  ASSERT_TRUE(wrong);
  EXPECT_EQ((*wrong)["newest-versions"], (Json::array({"2020-07-01", "2019-08-01", "2019-04-01"})));
}

TEST(AzureStandIn, TheMachineKnowsItself) {
  Azure rig;
  const Json compute = rig.json(kInstance + "/compute?api-version=2021-02-01");
  for (const char* key : {"name", "vmId", "location", "zone", "vmSize", "priority",
                          "evictionPolicy", "subscriptionId", "resourceGroupName"}) {
    EXPECT_TRUE(compute.contains(key) && compute[key].is_string()) << key;
  }
  EXPECT_EQ(compute["priority"], "Spot");
  ASSERT_TRUE(compute["tagsList"].is_array());
  EXPECT_EQ(compute["tagsList"][0]["name"], "team");
  EXPECT_EQ(
      rig.get(kInstance + "/compute/vmSize?api-version=2021-02-01&format=text", kMetadata).body,
      "Standard_D8s_v5");
}

TEST(AzureStandIn, AnEventIsScheduledAndStartsWhenItsTimeHasCome) {
  Azure rig;
  const Json before = rig.json(kEvents);
  EXPECT_EQ(before["Events"], Json::array());
  rig.stand_in().announce(std::chrono::seconds(30));
  const Json scheduled = rig.json(kEvents);
  EXPECT_GT(scheduled["DocumentIncarnation"], before["DocumentIncarnation"]);
  ASSERT_EQ(scheduled["Events"].size(), 1U);
  const Json& event = scheduled["Events"][0];
  EXPECT_EQ(event["EventType"], "Preempt");
  EXPECT_EQ(event["EventStatus"], "Scheduled");
  EXPECT_EQ(event["NotBefore"], "Fri, 15 Jan 2027 08:00:30 GMT");
  EXPECT_EQ(event["Resources"], Json::array({"stand-in-1"}));
  EXPECT_EQ(event["ResourceType"], "VirtualMachine");
  EXPECT_EQ(event["DurationInSeconds"], -1);
  EXPECT_EQ(event["EventId"].get<std::string>().size(), 36U);
  EXPECT_EQ(rig.json(kEvents), scheduled);
  rig.clock.pass(std::chrono::seconds(30));
  const Json started = rig.json(kEvents);
  EXPECT_GT(started["DocumentIncarnation"], scheduled["DocumentIncarnation"]);
  EXPECT_EQ(started["Events"][0]["EventStatus"], "Started");
  EXPECT_EQ(started["Events"][0]["NotBefore"], "");
  EXPECT_EQ(started["Events"][0]["EventId"], event["EventId"]);
  rig.stand_in().withdraw();
  EXPECT_EQ(rig.json(kEvents)["Events"], Json::array());
}

TEST(AzureStandIn, OldVersionsTellLess) {
  Azure rig;
  rig.happen("preempt");
  rig.happen("freeze");
  const auto events = [&](const std::string& version) {
    return rig.json("/metadata/scheduledevents?api-version=" + version)["Events"];
  };
  ASSERT_EQ(events("2017-08-01").size(), 1U);
  EXPECT_EQ(events("2017-08-01")[0]["EventType"], "Freeze");
  ASSERT_EQ(events("2017-11-01").size(), 2U);
  EXPECT_FALSE(events("2017-11-01")[0].contains("Description"));
  EXPECT_TRUE(events("2019-04-01")[0].contains("Description"));
  EXPECT_FALSE(events("2019-08-01")[0].contains("DurationInSeconds"));
}

TEST(AzureStandIn, AnAcknowledgementStartsTheEventAtOnce) {
  Azure rig;
  rig.stand_in().announce(std::chrono::minutes(15));
  const Json before = rig.json(kEvents);
  const std::string id = before["Events"][0]["EventId"];
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
        std::string(R"({"StartRequests":[]})"), std::string(R"({"StartRequests":"x"})"),
        std::string(R"({"StartRequests":["x"]})"), std::string(R"({"StartRequests":[{}]})"),
        std::string(R"({"StartRequests":[{"EventId":"no-such"}]})"),
        R"({"StartRequests":[{"EventId":")" + id + R"("},{"EventId":"no-such"}]})"}) {
    EXPECT_EQ(rig.post(bad), 400) << bad;
  }
  EXPECT_EQ(rig.json(kEvents), before);
  EXPECT_EQ(rig.stand_in().acknowledgements(), 0);
  rig.heard.clear();
  const std::string good = R"({"StartRequests":[{"EventId":")" + id + R"("}]})";
  EXPECT_EQ(rig.post(good), 200);
  EXPECT_EQ(rig.stand_in().acknowledgements(), 1);
  EXPECT_EQ(rig.heard,
            std::vector<std::string>{"acknowledged: event " + id + " (Preempt) may happen now"});
  const Json started = rig.json(kEvents);
  EXPECT_EQ(started["Events"][0]["EventStatus"], "Started");
  EXPECT_GT(started["DocumentIncarnation"], before["DocumentIncarnation"]);
  EXPECT_EQ(rig.post(good), 200);  // somebody else has said so before
}

TEST(AzureStandIn, OtherNewsComesInItsOwnWords) {
  Azure rig;
  for (const char* word : {"freeze", "reboot", "redeploy", "terminate", "other-machine"}) {
    rig.happen(word);
  }
  const Json events = rig.json(kEvents)["Events"];
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["EventType"], "Freeze");
  EXPECT_EQ(events[0]["NotBefore"], "Fri, 15 Jan 2027 08:15:00 GMT");
  EXPECT_EQ(events[1]["EventType"], "Reboot");
  EXPECT_EQ(events[2]["EventType"], "Redeploy");
  EXPECT_EQ(events[3]["EventType"], "Terminate");
  EXPECT_EQ(events[4]["EventType"], "Preempt");
  EXPECT_EQ(events[4]["Resources"], Json::array({"stand-in-2"}));
  rig.happen("withdraw");
  rig.happen("failure");
  EXPECT_EQ(rig.json(kEvents)["Events"][0]["EventStatus"], "Started");
  rig.happen("withdraw");
  rig.happen("past 5m");
  EXPECT_EQ(rig.json(kEvents)["Events"][0]["EventStatus"], "Scheduled");
  EXPECT_EQ(rig.json(kEvents)["Events"][0]["NotBefore"], "Fri, 15 Jan 2027 07:55:00 GMT");
  rig.happen("junk");
  const Json junk = rig.json(kEvents)["Events"];
  ASSERT_EQ(junk.size(), 1U);
  EXPECT_EQ(junk[0]["NotBefore"], "as soon as possible");
}

}  // namespace
}  // namespace outlast::stand_in
