#include "notice/gce_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "notice/testing/cloud_scene.h"
#include "notice/testing/fake_clouds.h"

namespace outlast::notice {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::CloudScene;
using testing::FakeGce;
using testing::is_about;
using testing::Story;

using Names = std::vector<std::string>;

TEST(GceSource, APreemptionLeavesTheGraceAndAnotherLookDoesNotProlongIt) {
  CloudScene scene("gce");
  FakeGce gce(scene);
  const Story story = scene.play([&] {
    scene.wait(minutes(5));
    EXPECT_TRUE(scene.so_far().notices.empty()) << "a minute that passes is no change";
    gce.values["instance/preempted"] = "TRUE";
    scene.wait(minutes(3));
  });
  ASSERT_EQ(story.sources(), Names{"gce"});
  EXPECT_TRUE(is_about(story.notices[0].left, CloudScene::kGrace));
  EXPECT_EQ(story.notices[0].why, "Google takes this machine back, which leaves 30s");
  EXPECT_TRUE(story.hints.empty());
  EXPECT_TRUE(story.logged.empty());
}

TEST(GceSource, MaintenanceThatEndsTheMachineIsANoticeUntilItIsTakenBack) {
  CloudScene scene("gce");
  FakeGce gce(scene);
  const Story story = scene.play([&] {
    scene.wait(seconds(10));
    gce.values["instance/maintenance-event"] = "MIGRATE_ON_HOST_MAINTENANCE";
    scene.wait(seconds(10));
    gce.values["instance/maintenance-event"] = "TERMINATE_ON_HOST_MAINTENANCE";
    scene.wait(seconds(10));
    gce.values["instance/maintenance-event"] = "NONE";
    scene.wait(seconds(10));
  });
  EXPECT_EQ(story.hint_sources(), (Names{"gce-maintenance-hint", ""}));
  EXPECT_EQ(story.sources(), (Names{"gce-maintenance", ""}));
  EXPECT_TRUE(is_about(story.notices[0].left, CloudScene::kGrace));
}

TEST(GceSource, TwoEndsAtOnceAreTheFirstOne) {
  CloudScene scene("gce");
  FakeGce gce(scene);
  const Story story = scene.play([&] {
    gce.values["instance/maintenance-event"] = "TERMINATE_ON_HOST_MAINTENANCE";
    scene.wait(seconds(20));
    gce.values["instance/preempted"] = "TRUE";
    scene.wait(seconds(20));
    gce.values["instance/maintenance-event"] = "NONE";
    scene.wait(seconds(20));
  });
  EXPECT_EQ(story.sources(), (Names{"gce-maintenance", "gce"}));
}

TEST(GceSource, AServerThatTellsNoEtagOrDoesNotWaitIsAskedEverySecond) {
  for (const bool has_etags : {false, true}) {
    CloudScene scene("gce");
    FakeGce gce(scene);
    gce.has_etags = has_etags;
    gce.holds = false;
    const Story story = scene.play([&] {
      scene.wait(seconds(60));
      EXPECT_LT(scene.so_far().requests.size(), 180U) << "for two keys";
      gce.values["instance/preempted"] = "TRUE";
      scene.wait(seconds(5));
    });
    EXPECT_EQ(story.sources(), Names{"gce"}) << has_etags;
  }
}

TEST(GceSource, IsAlsoFoundByItsName) {
  CloudScene scene("gce");
  scene.where = "http://metadata.google.internal";
  FakeGce gce(scene);
  const Story story = scene.play([&] {
    gce.values["instance/preempted"] = "TRUE";
    scene.wait(seconds(5));
  });
  EXPECT_EQ(story.sources(), Names{"gce"});
}

TEST(GceSource, AsksWhereAVariableSays) {
  for (const auto& [variable, value] :
       {std::pair("GCE_METADATA_HOST", "stand-in:8080"),
        {"GCE_METADATA_IP", "stand-in:8080/"},
        {"GCE_METADATA_URL", "http://stand-in:8080/computeMetadata/v1/"}}) {
    CloudScene scene("gce");
    scene.variables[variable] = value;
    scene.where = "http://stand-in:8080";
    FakeGce gce(scene);
    const Story story = scene.play([&] {
      gce.values["instance/preempted"] = "TRUE";
      scene.wait(seconds(5));
    });
    EXPECT_EQ(story.sources(), Names{"gce"}) << variable;
  }
}

}  // namespace
}  // namespace outlast::notice
