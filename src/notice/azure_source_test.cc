#include "notice/azure_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "notice/testing/cloud_scene.h"
#include "notice/testing/fake_clouds.h"

namespace outlast::notice {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::CloudScene;
using testing::FakeAzure;
using testing::is_about;
using testing::Story;

using List = std::vector<std::string>;

TEST(AzureSource, AnEventThatEndsTheMachineIsANoticeUntilItIsGone) {
  for (const char* type : {"Preempt", "Reboot", "Redeploy", "Terminate"}) {
    CloudScene scene("azure");
    FakeAzure azure(scene);
    const Story story = scene.play([&] {
      scene.wait(seconds(10));
      azure.events = {azure.event("e-1", type, minutes(5))};
      scene.wait(seconds(10));
      azure.withdraw();
      scene.wait(seconds(10));
    });
    ASSERT_EQ(story.sources(), (List{"azure", ""})) << type;
    EXPECT_TRUE(is_about(story.notices[0].left, minutes(5))) << type;
    EXPECT_TRUE(story.logged.empty());
  }
}

TEST(AzureSource, WhatOnlyFreezesOrIsNotKnownIsAHint) {
  for (const char* type : {"Freeze", "Somersault", ""}) {
    CloudScene scene("azure");
    FakeAzure azure(scene);
    const Story story = scene.play([&] {
      azure.events = {azure.event("e-1", type, minutes(15))};
      scene.wait(seconds(10));
      azure.withdraw();
      scene.wait(seconds(10));
    });
    EXPECT_TRUE(story.notices.empty()) << type;
    EXPECT_EQ(story.hint_sources(), (List{"azure-hint", ""})) << type;
  }
}

TEST(AzureSource, EventsOfOtherMachinesAreNoneOfOurs) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  const Story story = scene.play([&] {
    Json other = azure.event("e-1", "Preempt", seconds(30));
    other["Resources"] = Json::array({"vm-8", "vm-77"});
    azure.events = {other};
    scene.wait(seconds(20));
    EXPECT_TRUE(scene.so_far().notices.empty());
    azure.events.push_back(azure.event("e-2", "Preempt", seconds(30)));
    scene.wait(seconds(5));
    azure.events.pop_back();
    scene.wait(seconds(5));
  });
  EXPECT_EQ(story.sources(), (List{"azure", ""}));
  EXPECT_TRUE(story.hints.empty());
}

TEST(AzureSource, OfTwoEventsTheFirstCounts) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  const Story story = scene.play([&] {
    azure.events = {azure.event("e-1", "Reboot", minutes(10)),
                    azure.event("e-2", "Preempt", seconds(60)),
                    azure.event("e-3", "Freeze", seconds(20))};
    scene.wait(seconds(10));
    azure.events.erase(azure.events.begin() + 1);
    scene.wait(seconds(10));
  });
  ASSERT_EQ(story.sources(), (List{"azure", "azure"}));
  EXPECT_TRUE(is_about(story.notices[0].left, seconds(60)));
  EXPECT_GT(story.notices[1].left, minutes(9));
  EXPECT_EQ(story.hint_sources(), List{"azure-hint"});
}

TEST(AzureSource, AFirstAnswerAfterTwoMinutesIsWaitedFor) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  azure.first_takes = minutes(2);
  const Story story = scene.play([&] {
    scene.wait(seconds(100));
    azure.announce(seconds(90));
    scene.wait(seconds(30));
  });
  ASSERT_EQ(story.sources(), List{"azure"});
  EXPECT_TRUE(is_about(story.notices[0].left, seconds(70)));
  EXPECT_TRUE(story.logged.empty());
}

struct TimeCase {
  std::string name = {};
  std::function<void(Json&)> change = [](Json&) {};
  bool tells_time = true;
  Duration clock_off = {};
  Duration left = {};
};

TEST(AzureSource, AnEvictionCountsWhateverItsTimeSays) {
  const auto with = [](const char* key, const Json& value) {
    return [=](Json& event) { event[key] = value; };
  };
  const std::vector<TimeCase> cases = {
      {.name = "clock ahead", .clock_off = hours(1), .left = minutes(1)},
      {.name = "clock behind", .clock_off = -hours(1), .left = minutes(1)},
      {.name = "ahead, no Date", .tells_time = false, .clock_off = hours(1), .left = seconds(30)},
      {.name = "behind, no Date", .tells_time = false, .clock_off = -hours(1), .left = seconds(30)},
      {.name = "junk", .change = with("NotBefore", "soon"), .left = seconds(30)},
      {.name = "a number", .change = with("NotBefore", 7), .left = seconds(30)},
      {.name = "no time yet", .change = with("NotBefore", ""), .left = seconds(30)},
      {.name = "too long to be true",
       .change = with("NotBefore", "Fri, 01 Jan 2100 00:00:00 GMT"),
       .left = minutes(15)},
      {.name = "begun",
       .change =
           [](Json& event) {
             event["EventStatus"] = "Started";
             event["NotBefore"] = "";
           },
       .left = seconds(10)}};
  for (const TimeCase& test : cases) {
    CloudScene scene("azure");
    scene.clock_off = test.clock_off;
    FakeAzure azure(scene);
    azure.tells_time = test.tells_time;
    const Story story = scene.play([&] {
      azure.announce(minutes(1));
      test.change(azure.events[0]);
      scene.wait(seconds(20));
    });
    ASSERT_EQ(story.sources(), List{"azure"}) << test.name;
    EXPECT_TRUE(is_about(story.notices[0].left, test.left)) << test.name;
    EXPECT_TRUE(story.logged.empty()) << test.name;
  }
}

TEST(AzureSource, AnEventThatIsLongPastIsNoneAndThatIsSaidOnce) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  const Story story = scene.play([&] {
    azure.announce(-minutes(6));
    scene.wait(seconds(20));
    EXPECT_TRUE(scene.so_far().notices.empty());
    azure.announce(seconds(30));
    scene.wait(seconds(5));
  });
  EXPECT_EQ(story.sources(), List{"azure"});
  EXPECT_EQ(story.logged, List{"notice.not_believed"});
}

TEST(AzureSource, WhileItsOwnNameIsNotKnownAnEventIsAHint) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  azure.compute = nullptr;
  const Story story = scene.play([&] {
    azure.announce(minutes(5));
    scene.wait(seconds(30));
    EXPECT_TRUE(scene.so_far().notices.empty());
    EXPECT_EQ(scene.so_far().hint_sources(), List{"azure-hint"});
    azure.compute = {{"name", "vm-7"}};
    scene.wait(seconds(10));
  });
  EXPECT_EQ(story.sources(), List{"azure"}) << "it turns out to be ours";
  EXPECT_EQ(story.hint_sources(), (List{"azure-hint", ""}));
  EXPECT_EQ(story.logged, (List{"notice.service_away", "notice.service_back"}));
}

TEST(AzureSource, EventsThatSayTooLittleAreHints) {
  for (const char* text : {R"({"Events":[7,null,"x",{}]})",
                           R"({"Events":[{"EventType":"Preempt","Resources":"vm-7"}]})"}) {
    CloudScene scene("azure");
    FakeAzure azure(scene);
    azure.events_text = text;
    const Story story = scene.play([&] {
      scene.wait(seconds(10));
      azure.events_text.reset();
      azure.announce(seconds(30));
      scene.wait(seconds(5));
    });
    EXPECT_EQ(story.sources(), List{"azure"}) << text;
    EXPECT_EQ(story.hint_sources(), (List{"azure-hint", ""})) << text;
  }
}

TEST(AzureSource, OnReleaseItMayBeginWhatWeAnnouncedAndConcernsUsAlone) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  const Story story = scene.play([&] {
    Json shared = azure.event("e-2", "Preempt", seconds(60));
    shared["Resources"] = Json::array({"vm-7", "vm-8"});
    Json begun = azure.event("e-4", "Reboot", seconds(60));
    begun["EventStatus"] = "Started";
    azure.events = {azure.event("e-1", "Preempt", seconds(60)), shared,
                    azure.event("e-3", "Freeze", seconds(60)), begun};
    scene.wait(seconds(5));
    scene.release();
  });
  EXPECT_EQ(azure.started, List{"e-1"});
  EXPECT_EQ(story.released, (List{"told Azure to go ahead with event e-1", ""}));
}

TEST(AzureSource, OnReleaseNothingBeginsThatWasNotAnnouncedOrIsGone) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  const Story story = scene.play([&] {
    azure.announce(seconds(60));
    scene.wait(seconds(5));
    azure.withdraw();
    scene.wait(seconds(5));
    scene.release();
  });
  EXPECT_TRUE(azure.started.empty());
  EXPECT_EQ(story.released, (List{"", ""}));
}

TEST(AzureSource, AReleaseThatIsRefusedIsTriedAgainAndThenSaid) {
  CloudScene scene("azure");
  FakeAzure azure(scene);
  const testing::Trouble trouble = {.name = "503", .answer = sys::HttpResponse{.status = 503}};
  const Story story = scene.play([&] {
    azure.announce(seconds(60));
    scene.wait(seconds(5));
    scene.trouble = &trouble;
    scene.release();
  });
  EXPECT_TRUE(azure.started.empty());
  ASSERT_EQ(story.released.size(), 2U);
  EXPECT_NE(story.released[0].find("answered with 503"), std::string::npos) << story.released[0];
}

TEST(AzureSource, AsksWhereAVariableSays) {
  CloudScene scene("azure");
  scene.variables["OUTLAST_AZURE_METADATA_ENDPOINT"] = "http://stand-in:8081/";
  scene.where = "http://stand-in:8081";
  FakeAzure azure(scene);
  const Story story = scene.play([&] {
    azure.announce(seconds(30));
    scene.wait(seconds(5));
  });
  EXPECT_EQ(story.sources(), List{"azure"});
}

}  // namespace
}  // namespace outlast::notice
