#include "notice/announcements.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "notice/metadata_service.h"
#include "notice/testing/cloud_scene.h"
#include "notice/testing/fake_clouds.h"
#include "sys/http.h"

namespace outlast::notice {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using Kind = TimeLeft::Kind;

TEST(TimeLeft, CountsByTheClockOfWhoeverSaysIt) {
  const WallTime now = *parse_rfc3339("2026-11-17T12:00:00Z");
  struct Case {
    std::string name = {};
    std::optional<WallTime> at = {};
    bool is_theirs = true;
    Kind kind = Kind::kKnown;
    Duration left = {};
  };
  const std::vector<Case> cases = {
      {.name = "soon", .at = now + seconds(90), .left = seconds(90)},
      {.name = "too long to be true", .at = now + hours(1), .left = minutes(2)},
      {.name = "due", .at = now - seconds(10)},
      {.name = "over", .at = now - minutes(6), .kind = Kind::kOver},
      {.name = "no time", .kind = Kind::kUnknown},
      {.name = "soon by ours", .at = now + seconds(90), .is_theirs = false, .left = seconds(90)},
      {.name = "past by ours", .at = now - seconds(1), .is_theirs = false, .kind = Kind::kUnknown},
      {.name = "far by ours", .at = now + hours(1), .is_theirs = false, .kind = Kind::kUnknown}};
  for (const Case& test : cases) {
    const TimeLeft left = time_left(test.at, {.at = now, .is_theirs = test.is_theirs}, minutes(2));
    EXPECT_EQ(left.kind, test.kind) << test.name;
    EXPECT_EQ(left.left, test.left) << test.name;
  }
}

// A service that comes and goes would otherwise fill the log.
TEST(ServicePresence, IsSaidOnceAMinuteAtMost) {
  testing::CloudScene scene("azure");
  testing::FakeAzure azure(scene);
  const testing::Trouble away = {.name = "503", .answer = sys::HttpResponse{.status = 503}};
  const testing::Story story = scene.play([&] {
    for (int i = 0; i < 150; ++i) {
      scene.trouble = i % 2 == 0 ? &away : nullptr;
      scene.wait(seconds(2));
    }
  });
  EXPECT_GE(story.count("notice.service_away"), 4) << "it is not forgotten either";
  EXPECT_LE(story.count("notice.service_away"), 6);
  EXPECT_LE(story.count("notice.service_back"), 6);
}

}  // namespace
}  // namespace outlast::notice
