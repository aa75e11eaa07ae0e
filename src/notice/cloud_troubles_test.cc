// Every cloud's service in every kind of trouble: no watcher stops, none invents a notice, none
// hides one, and each says once that nobody answers.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "notice/testing/cloud_scene.h"
#include "notice/testing/fake_clouds.h"
#include "sim/sim_network.h"
#include "sys/http.h"

namespace outlast::notice {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::CloudScene;
using testing::FakeAzure;
using testing::FakeEc2;
using testing::FakeGce;
using testing::Story;
using testing::Trouble;

constexpr const char* kPage = "<html><body>Please log in</body></html>";

Trouble status(int code) {
  return {.name = std::to_string(code), .answer = sys::HttpResponse{.status = code}};
}

std::vector<Trouble> troubles() {
  return {status(400),
          status(401),
          status(403),
          status(404),
          status(410),
          status(429),
          status(500),
          status(503),
          {.name = "Html", .answer = sys::HttpResponse{.status = 200, .body = kPage}},
          {.name = "HtmlWithTheRightHeader",
           .answer = sys::HttpResponse{.status = 200,
                                       .headers = {{"Metadata-Flavor", "Google"}, {"ETag", "1"}},
                                       .body = kPage}},
          {.name = "Empty", .answer = sys::HttpResponse{.status = 200}},
          {.name = "Null", .answer = sys::HttpResponse{.status = 200, .body = "null"}},
          {.name = "Flood",
           .answer = sys::HttpResponse{.status = 200, .body = std::string(2U << 20U, 'x')}},
          {.name = "HalfABody", .fate = sim::Fate::kAnswerCut},
          {.name = "NoAnswer", .fate = sim::Fate::kAnswerLost},
          {.name = "Refused", .fate = sim::Fate::kRefused},
          {.name = "Silence", .fate = sim::Fate::kStalls}};
}

// A cloud whose service can be told to say that the machine ends.
struct FakeCloud {
  std::string name = {};
  std::function<void()> announce = {};
  std::function<void()> withdraw = {};
  std::shared_ptr<void> service = {};  // owned by this alone, whatever it is
};

FakeCloud make_cloud(const std::string& name, CloudScene& scene) {
  if (name == "gce") {
    auto fake = std::make_shared<FakeGce>(scene);
    const auto say = [at = fake.get()](const char* what) {
      at->values["instance/preempted"] = what;
    };
    return {.name = name,
            .announce = [say] { say("TRUE"); },
            .withdraw = [say] { say("FALSE"); },
            .service = fake};
  }
  if (name == "ec2") {
    auto fake = std::make_shared<FakeEc2>(scene);
    return {.name = name,
            .announce = [at = fake.get()] { at->announce(minutes(2)); },
            .withdraw = [at = fake.get()] { at->withdraw(); },
            .service = fake};
  }
  auto fake = std::make_shared<FakeAzure>(scene);
  return {.name = name,
          .announce = [at = fake.get()] { at->announce(minutes(2)); },
          .withdraw = [at = fake.get()] { at->withdraw(); },
          .service = fake};
}

class CloudTroubles : public ::testing::TestWithParam<std::pair<std::string, Trouble>> {};

TEST_P(CloudTroubles, HideNoNoticeAndInventNone) {
  const auto& [name, trouble] = GetParam();
  CloudScene scene(name);
  const FakeCloud cloud = make_cloud(name, scene);
  const Story story = scene.play([&] {
    scene.wait(seconds(10));
    scene.trouble = &trouble;
    scene.wait(minutes(3));
    EXPECT_TRUE(scene.so_far().notices.empty()) << "invented";
    cloud.announce();
    scene.wait(seconds(2));
    scene.trouble = nullptr;
    scene.wait(seconds(20));
    EXPECT_EQ(scene.so_far().sources(), (std::vector<std::string>{name})) << "hidden";
    scene.trouble = &trouble;
    scene.wait(minutes(3));
    EXPECT_EQ(scene.so_far().notices.size(), 1U) << "what was announced still holds";
    scene.trouble = nullptr;
    scene.wait(seconds(20));
    cloud.withdraw();
    scene.wait(seconds(20));
  });
  EXPECT_EQ(story.sources(), (std::vector<std::string>{name, ""}));
  EXPECT_TRUE(story.hints.empty());
  EXPECT_EQ(story.count("notice.service_away"), 2) << "once each time";
  EXPECT_EQ(story.count("notice.service_back"), 2);
  for (const std::string& line : story.log) {
    EXPECT_EQ(line.find("pLaNtEd"), std::string::npos) << line;
    EXPECT_EQ(line.find("log in"), std::string::npos) << line;
  }
}

TEST_P(CloudTroubles, FromTheVeryFirstRequestOnHideNothing) {
  const auto& [name, trouble] = GetParam();
  CloudScene scene(name);
  const FakeCloud cloud = make_cloud(name, scene);
  scene.trouble = &trouble;
  const Story story = scene.play([&] {
    cloud.announce();
    scene.wait(seconds(20));
    EXPECT_TRUE(scene.so_far().notices.empty()) << "invented";
    scene.trouble = nullptr;
    scene.wait(minutes(3));  // a first answer of Azure's is waited for as long
  });
  EXPECT_GE(story.notices.size(), 1U);
  EXPECT_LE(story.count("notice.service_away"), 1);
}

std::vector<std::pair<std::string, Trouble>> all_troubles() {
  std::vector<std::pair<std::string, Trouble>> all;
  for (const std::string cloud : {"gce", "ec2", "azure"}) {
    for (const Trouble& trouble : troubles()) {
      // With a 404 EC2 says that there is nothing to tell.
      if (cloud != "ec2" || trouble.name != "404") all.emplace_back(cloud, trouble);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Clouds, CloudTroubles, ::testing::ValuesIn(all_troubles()),
                         [](const auto& test) {
                           return test.param.first + test.param.second.name;
                         });

}  // namespace
}  // namespace outlast::notice
