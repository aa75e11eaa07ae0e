#include "stand_in/ec2_stand_in.h"

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

const std::string kData = "/latest/meta-data/";
const std::string kTtl = "X-aws-ec2-metadata-token-ttl-seconds";

class Ec2 : public StandInRig {
 public:
  Ec2() : StandInRig("ec2") {}

  sys::HttpResponse put_token(const sys::HttpHeaders& headers) {
    return ask({.method = "PUT", .target = "/latest/api/token", .headers = headers});
  }
  sys::HttpHeaders token(const std::string& seconds = "21600") {
    return {{"X-aws-ec2-metadata-token", put_token({{kTtl, seconds}}).body}};
  }
  // The status, and the body if it is 200.
  std::string said(const std::string& key) {
    const auto answer = get(kData + key, token());
    return answer.status == 200 ? answer.body : std::to_string(answer.status);
  }
};

TEST(Ec2StandIn, ATokenIsGivenForOneSecondToSixHours) {
  Ec2 rig;
  for (const char* good : {"1", "60", "21600"}) {
    const auto answer = rig.put_token({{kTtl, good}});
    EXPECT_EQ(answer.status, 200) << good;
    EXPECT_EQ(header(answer, kTtl), good);
    EXPECT_FALSE(answer.body.empty());
  }
  for (const char* bad : {"", "0", "-1", "21601", "1.5", "x", "99999999999999999999"}) {
    EXPECT_EQ(rig.put_token({{kTtl, bad}}).status, 400) << bad;
  }
  EXPECT_EQ(rig.put_token({}).status, 400);
  EXPECT_EQ(rig.put_token({{kTtl, "60"}, {"X-Forwarded-For", "10.0.0.1"}}).status, 403);
  EXPECT_EQ(rig.get("/latest/api/token").status, 405);
  EXPECT_NE(rig.put_token({{kTtl, "60"}}).body, rig.put_token({{kTtl, "60"}}).body);
}

TEST(Ec2StandIn, WithoutAGoodTokenThereIsNothing) {
  Ec2 rig;
  const sys::HttpHeaders good = rig.token("60");
  EXPECT_EQ(rig.get(kData + "instance-id", good).status, 200);
  EXPECT_EQ(rig.get(kData + "instance-id").status, 401);
  EXPECT_EQ(rig.get(kData + "instance-id", {{"X-aws-ec2-metadata-token", "x"}}).status, 401);
  EXPECT_EQ(rig.get(kData + "no-such-key").status, 401);
  EXPECT_EQ(rig.get("/").status, 401);
  rig.clock.pass(std::chrono::seconds(59));
  const auto last = rig.get(kData + "instance-id", good);
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(header(last, kTtl), "1");
  rig.clock.pass(std::chrono::seconds(1));
  EXPECT_EQ(rig.get(kData + "instance-id", good).status, 401);
}

TEST(Ec2StandIn, OnlyReadingIsKnown) {
  Ec2 rig;
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH"}) {
    EXPECT_EQ(
        rig.ask({.method = method, .target = kData + "instance-id", .headers = rig.token()}).status,
        405);
  }
  EXPECT_EQ(
      rig.ask({.method = "HEAD", .target = kData + "instance-id", .headers = rig.token()}).status,
      200);
}

TEST(Ec2StandIn, ValuesAndFolders) {
  Ec2 rig;
  EXPECT_EQ(rig.said("instance-life-cycle"), "spot");
  EXPECT_EQ(rig.said("instance-type"), "m6i.2xlarge");
  EXPECT_EQ(rig.said("placement/region"), "eu-west-1");
  EXPECT_EQ(rig.said("placement"), "availability-zone\navailability-zone-id\nregion");
  EXPECT_EQ(rig.said("placement/"), rig.said("placement"));
  EXPECT_EQ(rig.said("tags/instance/"), "Name\nteam");
  EXPECT_EQ(rig.said("tags/instance/team"), "stand-in");
  EXPECT_EQ(rig.said("iam/security-credentials/"), "outlast-stand-in-role");
  EXPECT_EQ(rig.said("instance-id/"), "404");
  EXPECT_NE(rig.said("").find("\nplacement/\n"), std::string::npos);
  EXPECT_EQ(rig.said("").find("spot/"), std::string::npos);
  EXPECT_EQ(rig.get("/latest/", rig.token()).body, "dynamic/\nmeta-data/");
  const auto document =
      parse_json(rig.get("/latest/dynamic/instance-identity/document", rig.token()).body);
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["region"], "eu-west-1");
}

TEST(Ec2StandIn, WhatIsNotAnnouncedIsAPageThatSaysSo) {
  Ec2 rig;
  for (const char* key : {"spot/instance-action", "spot/termination-time", "spot/",
                          "events/recommendations/rebalance"}) {
    const auto answer = rig.get(kData + key, rig.token());
    EXPECT_EQ(answer.status, 404) << key;
    EXPECT_TRUE(answer.body.starts_with("<?xml")) << answer.body;
    EXPECT_EQ(header(answer, "Date"), "Fri, 15 Jan 2027 08:00:00 GMT");
  }
  EXPECT_EQ(rig.said("events/maintenance/scheduled"), "[]");
}

TEST(Ec2StandIn, AnEndIsAnnouncedAtAFixedTime) {
  Ec2 rig;
  rig.stand_in().announce(std::chrono::minutes(2));
  rig.clock.pass(std::chrono::seconds(30));
  EXPECT_EQ(rig.said("spot/instance-action"),
            R"({"action":"terminate","time":"2027-01-15T08:02:00Z"})");
  EXPECT_EQ(rig.said("spot/termination-time"), "2027-01-15T08:02:00Z");
  rig.stand_in().withdraw();
  EXPECT_EQ(rig.said("spot/instance-action"), "404");
  EXPECT_EQ(rig.said("spot/termination-time"), "404");
}

TEST(Ec2StandIn, OtherNewsComesInItsOwnWords) {
  Ec2 rig;
  rig.happen("stop");
  EXPECT_EQ(rig.said("spot/instance-action"), R"({"action":"stop","time":"2027-01-15T08:02:00Z"})");
  EXPECT_EQ(rig.said("spot/termination-time"), "404");
  rig.happen("hibernate");
  EXPECT_EQ(rig.said("spot/instance-action"),
            R"({"action":"hibernate","time":"2027-01-15T08:00:00Z"})");
  rig.happen("rebalance");
  EXPECT_EQ(rig.said("events/recommendations/rebalance"),
            R"({"noticeTime":"2027-01-15T08:00:00Z"})");
  rig.happen("past 1h");
  EXPECT_EQ(rig.said("spot/termination-time"), "2027-01-15T07:00:00Z");
  rig.happen("junk");
  EXPECT_EQ(rig.said("spot/termination-time"), "as soon as possible");
  rig.happen("scheduled instance-stop 30m");
  rig.happen("scheduled system-reboot 1h");
  const auto events = parse_json(rig.said("events/maintenance/scheduled"));
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 2U);
  EXPECT_EQ((*events)[0]["Code"], "instance-stop");
  EXPECT_EQ((*events)[0]["State"], "active");
  EXPECT_EQ((*events)[0]["NotBefore"], "15 Jan 2027 08:30:00 GMT");
  EXPECT_NE((*events)[0]["EventId"], (*events)[1]["EventId"]);
  rig.happen("withdraw");
  EXPECT_EQ(rig.said("events/maintenance/scheduled"), "[]");
  EXPECT_EQ(rig.said("events/recommendations/rebalance"), "404");
}

TEST(Ec2StandIn, AClockThatIsWrongIsWrongEverywhere) {
  Ec2 rig;
  rig.happen("ahead 1h");
  rig.stand_in().announce(std::chrono::minutes(2));
  EXPECT_EQ(rig.said("spot/termination-time"), "2027-01-15T09:02:00Z");
  EXPECT_EQ(header(rig.get(kData), "Date"), "Fri, 15 Jan 2027 09:00:00 GMT");
  rig.happen("behind 1h");
  EXPECT_EQ(header(rig.get(kData), "Date"), "Fri, 15 Jan 2027 07:00:00 GMT");
}

}  // namespace
}  // namespace outlast::stand_in
