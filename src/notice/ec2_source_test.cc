#include "notice/ec2_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "cloud/http_date.h"
#include "notice/ec2_events.h"
#include "notice/testing/cloud_scene.h"
#include "notice/testing/fake_clouds.h"
#include "sim/sim_network.h"
#include "sys/http.h"

namespace outlast::notice {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::CloudScene;
using testing::FakeEc2;
using testing::Heard;
using testing::is_about;
using testing::Story;

using Words = std::vector<std::string>;

TEST(Ec2Source, ASpotActionIsANoticeUntilItIsTakenBack) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  const Story story = scene.play([&] {
    scene.wait(seconds(10));
    ec2.announce(minutes(2));
    scene.wait(seconds(10));
    ec2.withdraw();
    scene.wait(seconds(10));
  });
  ASSERT_EQ(story.sources(), (Words{"ec2", ""}));
  EXPECT_GT(story.notices[0].left, minutes(2) - seconds(4));
  EXPECT_LT(story.notices[0].left, minutes(2));
  EXPECT_TRUE(story.notices[0].why.starts_with("EC2 takes this spot machine back (terminate) at"));
  EXPECT_TRUE(story.logged.empty()) << "a 404 is no trouble";
}

// Some mocks count the two minutes anew at every look.
TEST(Ec2Source, ATimeThatMovesOnDoesNotGiveMoreOfIt) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  const Story story = scene.play([&] {
    for (int i = 0; i < 40; ++i) {
      ec2.announce(minutes(2));
      scene.wait(seconds(1));
    }
    ec2.announce(seconds(30));
    scene.wait(seconds(10));
  });
  ASSERT_EQ(story.notices.size(), 2U) << "once, and again because it comes sooner";
  EXPECT_TRUE(is_about(story.notices[0].left, minutes(2)));
  EXPECT_LT(story.notices[1].left, seconds(31));
}

struct ActionCase {
  std::string name = {};
  std::string time = {};  // "": two minutes from now, by the service
  bool tells_time = true;
  Duration clock_off = {};
  Duration left = {};  // wanted; negative: no notice
};

TEST(Ec2Source, AnActionCountsWhateverItsTimeSays) {
  const Duration none = seconds(-1);
  const std::vector<ActionCase> cases = {
      {.name = "our clock is ahead", .clock_off = hours(1), .left = minutes(2)},
      {.name = "our clock is behind", .clock_off = -hours(1), .left = minutes(2)},
      {.name = "ahead, and no Date",
       .tells_time = false,
       .clock_off = hours(1),
       .left = seconds(30)},
      {.name = "behind, no Date", .tells_time = false, .clock_off = -hours(1), .left = seconds(30)},
      {.name = "right, no Date", .tells_time = false, .left = minutes(2)},
      {.name = "junk", .time = "soon", .left = seconds(30)},
      {.name = "no day", .time = "2026-02-30T00:00:00Z", .left = seconds(30)},
      {.name = "too late to be true", .time = "2099-01-01T00:00:00Z", .left = minutes(2)},
      {.name = "long past", .time = "2001-01-01T00:00:00Z", .left = none},
      {.name = "long past, no Date",
       .time = "2001-01-01T00:00:00Z",
       .tells_time = false,
       .left = seconds(30)}};
  for (const ActionCase& test : cases) {
    CloudScene scene("ec2");
    scene.clock_off = test.clock_off;
    FakeEc2 ec2(scene);
    ec2.tells_time = test.tells_time;
    const Story story = scene.play([&] {
      ec2.announce(minutes(2));
      if (!test.time.empty()) {
        ec2.values[FakeEc2::kAction] = R"({"action":"stop","time":")" + test.time + "\"}";
      }
      scene.wait(seconds(30));
      if (test.left >= Duration::zero()) return;
      EXPECT_TRUE(scene.so_far().notices.empty()) << test.name;
      ec2.announce(minutes(2));
      scene.wait(seconds(10));
    });
    ASSERT_EQ(story.sources(), Words{"ec2"}) << test.name;
    if (test.left < Duration::zero()) {
      EXPECT_EQ(story.logged, Words{"notice.not_believed"}) << "said once";
    } else {
      EXPECT_TRUE(is_about(story.notices[0].left, test.left)) << test.name;
      EXPECT_EQ(story.log, Words{}) << test.name;
    }
  }
}

TEST(Ec2Source, ATerminationThatFailedIsTakenBack) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  const Story story = scene.play([&] {
    ec2.announce(minutes(2));
    ec2.values[FakeEc2::kTermination] = format_rfc3339(scene.now() + minutes(2));
    scene.wait(minutes(6));
    EXPECT_EQ(scene.so_far().count("notice.not_believed"), 0) << "it may still come";
    scene.wait(minutes(6));
  });
  EXPECT_EQ(story.notices.back().source, "");
  EXPECT_EQ(story.count("notice.not_believed"), 1);
}

TEST(Ec2Source, ATerminationTimeCountsIfItIsOneAndNotPast) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  const Story story = scene.play([&] {
    for (const std::string& text : {std::string("none"), std::string("<html></html>"),
                                    format_rfc3339(scene.now() - seconds(20)),
                                    std::string("2015-01-05T18:02:00Z"), std::string()}) {
      ec2.values[FakeEc2::kTermination] = text;
      scene.wait(seconds(10));
      EXPECT_TRUE(scene.so_far().notices.empty()) << text;
    }
    ec2.values[FakeEc2::kTermination] = format_rfc3339(scene.now() + minutes(1)) + "\n";
    scene.wait(seconds(90));
    EXPECT_EQ(scene.so_far().notices.size(), 1U) << "what was said holds when its time has come";
    ec2.values[FakeEc2::kTermination] = "<html>Please log in</html>";
    scene.wait(seconds(10));
    EXPECT_EQ(scene.so_far().notices.size(), 1U) << "and when a page stands in between";
    ec2.values.erase(FakeEc2::kTermination);
    scene.wait(seconds(10));
  });
  ASSERT_EQ(story.sources(), (Words{"ec2", ""}));
  EXPECT_LT(story.notices[0].left, minutes(1));
  EXPECT_TRUE(story.logged.empty());
}

TEST(Ec2Source, OneEndThatIsSaidTwiceIsOneNotice) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  const Story story = scene.play([&] {
    ec2.values[FakeEc2::kTermination] = format_rfc3339(scene.now() + minutes(2));
    scene.wait(seconds(10));
    ec2.announce(minutes(2) - seconds(10));
    scene.wait(seconds(10));
    ec2.values[FakeEc2::kTermination] = "none";
    ec2.withdraw();
    scene.wait(seconds(10));
  });
  EXPECT_EQ(story.sources(), (Words{"ec2", "ec2", ""})) << "in other words, then none";
}

TEST(Ec2Source, ARecommendationToGoIsAHint) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  const Story story = scene.play([&] {
    ec2.values[FakeEc2::kRebalance] = R"({"noticeTime":"2026-10-27T08:22:00Z"})";
    scene.wait(minutes(3));
    ec2.values.erase(FakeEc2::kRebalance);
    scene.wait(seconds(10));
  });
  EXPECT_EQ(story.hint_sources(), (Words{"ec2-rebalance-hint", ""}));
  EXPECT_TRUE(story.notices.empty());
}

std::string maintenance(const std::string& id, const std::string& code, const std::string& when) {
  return canonical_json({{"EventId", id},
                         {"Code", code},
                         {"State", "active"},
                         {"Description", "about hardware"},
                         {"NotBefore", when}});
}

// "21 Jan 2019 09:00:43 GMT": HTTP's form without its weekday.
std::string ec2_time(WallTime time) {
  return cloud::format_http_date(time).substr(5);
}

TEST(Ec2Source, ScheduledMaintenanceIsCertainIfItEndsTheMachine) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  const Story story = scene.play([&] {
    const std::string two_days = ec2_time(scene.now() + hours(48));
    const std::string one_day = ec2_time(scene.now() + hours(24));
    ec2.values[FakeEc2::kMaintenance] = "[" + maintenance("e-1", "system-maintenance", one_day) +
                                        "," + maintenance("e-2", "instance-retirement", two_days) +
                                        "," + maintenance("e-3", "instance-stop", one_day) + "," +
                                        maintenance("e-4", "instance-stop", "soon") + R"(, 7, {}])";
    scene.wait(seconds(70));
    EXPECT_EQ(scene.so_far().sources(), Words{"ec2-maintenance"}) << "the first of two";
    ec2.values[FakeEc2::kMaintenance] =
        R"([{"EventId":"e-3","Code":"instance-stop","State":"completed","NotBefore":"x"}])";
    scene.wait(seconds(70));
  });
  ASSERT_EQ(story.sources(), (Words{"ec2-maintenance", ""}));
  EXPECT_GT(story.notices[0].left, hours(24) - minutes(2));
  EXPECT_LE(story.notices[0].left, hours(24));
  EXPECT_EQ(story.hint_sources(), (Words{"ec2-maintenance-hint", ""}));
}

TEST(Ec2Source, ReadsBothFormsOfTimes) {
  const WallTime time = *parse_rfc3339("2019-01-01T09:00:43Z");
  EXPECT_EQ(parse_ec2_time("01 Jan 2019 09:00:43 GMT"), time);
  EXPECT_EQ(parse_ec2_time("1 Jan 2019 09:00:43 GMT"), time);
  EXPECT_EQ(parse_ec2_time("2019-01-01T09:00:43Z"), time);
  for (const char* junk : {"", "soon", "32 Jan 2019 09:00:43 GMT", "1 Jan 2019 09:00:43",
                           "Tue, 01 Jan 2019 09:00:43 GMT"}) {
    EXPECT_FALSE(parse_ec2_time(junk)) << junk;
  }
}

TEST(Ec2Source, ATokenIsRenewedBeforeItEndsAndWhenItIsRefused) {
  CloudScene scene("ec2");
  FakeEc2 ec2(scene);
  const Story story = scene.play([&] {
    scene.wait(seconds(30));
    ec2.revoked = ec2.tokens;
    scene.wait(seconds(10));
    EXPECT_EQ(ec2.tokens, ec2.revoked + 1);
    scene.wait(hours(5) + minutes(10));
    EXPECT_EQ(ec2.tokens, ec2.revoked + 2);
    ec2.announce(minutes(2));
    scene.wait(seconds(10));
  });
  EXPECT_EQ(story.sources(), Words{"ec2"});
  EXPECT_TRUE(story.logged.empty()) << "nobody needs to hear of that";
}

// In a container, if the hop limit is 1.
class Ec2HangingToken : public ::testing::Test {
 protected:
  CloudScene scene_{"ec2"};
  FakeEc2 ec2_{scene_};
  bool hangs_ = true;

  void hang() {
    scene_.network().set_hook([this](const std::string&, const sys::HttpRequest& request) {
      const bool is_lost = hangs_ && request.method == "PUT";
      return is_lost ? std::optional(sim::Fate::kStalls) : std::nullopt;
    });
  }
};

TEST_F(Ec2HangingToken, VersionOneIsAskedInstead) {
  ec2_.allows_v1 = true;
  const Story story = scene_.play([&] {
    hang();
    ec2_.announce(minutes(2));
    scene_.wait(seconds(5));
  });
  EXPECT_EQ(story.sources(), Words{"ec2"});
  EXPECT_TRUE(story.logged.empty());
}

TEST_F(Ec2HangingToken, WhereVersionOneIsRefusedThatIsSaidOnceAndTriedOn) {
  const Story story = scene_.play([&] {
    hang();
    ec2_.announce(minutes(2));
    scene_.wait(minutes(2));
    EXPECT_TRUE(scene_.so_far().notices.empty());
    hangs_ = false;
    ec2_.announce(minutes(2));
    scene_.wait(seconds(10));
  });
  EXPECT_EQ(story.sources(), Words{"ec2"});
  ASSERT_EQ(story.logged, (Words{"notice.service_away", "notice.service_back"}));
  EXPECT_NE(story.log[0].find("hop limit"), std::string::npos) << story.log[0];
}

TEST_F(Ec2HangingToken, VersionOneMayBeForbiddenByAVariable) {
  ec2_.allows_v1 = true;
  scene_.variables["AWS_EC2_METADATA_V1_DISABLED"] = "true";
  const Story story = scene_.play([&] {
    hang();
    ec2_.announce(minutes(2));
    scene_.wait(minutes(1));
  });
  EXPECT_TRUE(story.notices.empty());
  EXPECT_EQ(story.logged, Words{"notice.service_away"});
  for (const std::string& request : story.requests) {
    EXPECT_FALSE(request.starts_with("GET")) << request;
  }
}

TEST(Ec2Source, AServiceThatKnowsNoTokensIsAskedWithout) {
  CloudScene scene("ec2");
  scene.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://stand-in:1338/";
  scene.where = "http://stand-in:1338";
  FakeEc2 ec2(scene);
  ec2.knows_v2 = false;
  ec2.allows_v1 = true;
  const Story story = scene.play([&] {
    ec2.announce(minutes(2));
    scene.wait(seconds(5));
  });
  EXPECT_EQ(story.sources(), Words{"ec2"});
}

}  // namespace
}  // namespace outlast::notice
