#include "job/hazard.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"

namespace outlast::job {
namespace {
namespace hazard_test {

using std::chrono::hours;
using std::chrono::minutes;

TEST(Hazard, IsSensibleBeforeAnythingWasSeen) {
  const HazardModel model;
  for (const Duration age : {Duration::min(), Duration::zero(), Duration(hours(23)),
                             Duration(hours(1'000)), Duration::max()}) {
    EXPECT_EQ(model.mean_time_to_failure(age), hours(12));
  }
  EXPECT_EQ(model.watched(), Duration::zero());
}

TEST(Hazard, APreemptionMakesItWorseAndCalmMakesItBetter) {
  HazardModel model;
  model.observe({}, hours(1), true);
  EXPECT_LT(model.mean_time_to_failure({}), hours(12));
  model = {};
  model.observe({}, hours(1), false);
  EXPECT_GT(model.mean_time_to_failure({}), hours(12));
}

TEST(Hazard, LearnsByAge) {
  HazardModel model;
  for (int i = 0; i < 100; ++i) {
    model.observe({}, minutes(30), i < 30);  // dangerous when young,
    model.observe(hours(6), hours(12), false);
    model.observe(hours(22), hours(23), i < 50);  // and when old
  }
  EXPECT_LT(model.mean_time_to_failure({}), hours(3));
  EXPECT_GT(model.mean_time_to_failure(hours(7)), hours(48));
  EXPECT_LT(model.mean_time_to_failure(hours(22)), hours(3));
  // An age that was never seen goes by the others.
  EXPECT_NEAR(model.preemptions_per_hour(hours(4)), 81.0 / 762, 0.001);
}

TEST(Hazard, ASpanIsSharedByTheAgesItGoesThrough) {
  HazardModel whole;
  whole.observe({}, hours(30), true);
  HazardModel parts;
  parts.observe({}, minutes(61), false);
  parts.observe(minutes(61), hours(24), false);
  parts.observe(hours(24), hours(30), true);
  EXPECT_EQ(whole, parts);
  EXPECT_EQ(whole.watched(), hours(30));
  EXPECT_EQ(whole.preemptions(), 1U);
}

// Machines with a limit of 24 h end at it, and belong to the ages before it.
TEST(Hazard, AnEndOnTheBorderBelongsToTheTimeBeforeIt) {
  HazardModel model;
  model.observe(hours(22), hours(24), true);
  EXPECT_GT(model.preemptions_per_hour(hours(23)), model.preemptions_per_hour(hours(24)));
}

// Preempted as often as a known rate says, it finds that rate.
TEST(Hazard, FindsTheTrueRate) {
  Random random(7);
  HazardModel model;
  for (int i = 0; i < 20'000; ++i) {
    // One hour after another with one chance in twenty.
    model.observe(hours(7), hours(8), random.chance(0.05));
  }
  EXPECT_NEAR(model.preemptions_per_hour(hours(7)), 0.05, 0.005);
}

HazardModel any_model() {
  HazardModel model;
  const int count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    const auto any_age = rc::gen::oneOf(
        rc::gen::map(rc::gen::inRange<std::int64_t>(-10, 100'000'000),
                     [](std::int64_t ms) { return Duration(std::chrono::milliseconds(ms)); }),
        rc::gen::element(Duration::min(), Duration::max()));
    model.observe(*any_age, *any_age, *rc::gen::arbitrary<bool>());
  }
  return model;
}

RC_GTEST_PROP(HazardProperty, ReadsWhatItWrote, ()) {
  const HazardModel model = any_model();
  const auto read = HazardModel::from_text(model.to_text());
  if (!read) RC_FAIL(read.error().to_string());
  RC_ASSERT(*read == model);
  RC_ASSERT(read->to_text() == model.to_text());
}

RC_GTEST_PROP(HazardProperty, MergesInAnyOrder, ()) {
  const HazardModel a = any_model();
  const HazardModel b = any_model();
  const HazardModel c = any_model();
  const auto merged = [](HazardModel first, const HazardModel& second) {
    first.merge(second);
    return first;
  };
  RC_ASSERT(merged(a, b) == merged(b, a));
  RC_ASSERT(merged(merged(a, b), c) == merged(a, merged(b, c)));
  RC_ASSERT(merged(a, {}) == a);
}

RC_GTEST_PROP(HazardProperty, AnswersAreInBounds, ()) {
  HazardModel model = any_model();
  const Duration age = Duration(*rc::gen::arbitrary<std::int64_t>());
  const Duration mean = model.mean_time_to_failure(age);
  RC_ASSERT(mean >= std::chrono::seconds(1) && mean <= hours(24 * 3650));
  model.observe(age, age, true);
  RC_ASSERT(model.mean_time_to_failure(age) <= mean);
}

TEST(HazardText, IsOneText) {
  HazardModel model;
  model.observe({}, hours(2), true);
  EXPECT_EQ(model.to_text(),
            R"({"ages":[{"from_hours":0,"preemptions":0,"watched_ms":3600000},)"
            R"({"from_hours":1,"preemptions":1,"watched_ms":3600000},)"
            R"({"from_hours":3,"preemptions":0,"watched_ms":0},)"
            R"({"from_hours":6,"preemptions":0,"watched_ms":0},)"
            R"({"from_hours":12,"preemptions":0,"watched_ms":0},)"
            R"({"from_hours":18,"preemptions":0,"watched_ms":0},)"
            R"({"from_hours":22,"preemptions":0,"watched_ms":0},)"
            R"({"from_hours":24,"preemptions":0,"watched_ms":0}],"hazard_format":1})");
}

TEST(HazardText, RefusesWhatIsNotOne) {
  const std::string good = HazardModel().to_text();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto model = HazardModel::from_text(text);
    return model ? "" : model.error().sentence();
  };
  EXPECT_EQ(with("\"hazard_format\":1", "\"hazard_format\":2"),
            "it has format 2 and this program reads format 1; use a newer one");
  EXPECT_EQ(with("\"from_hours\":3", "\"from_hours\":4"),
            "entry 3 of 'ages' is from 4 h and not from 3 h");
  EXPECT_EQ(with("\"watched_ms\":0", "\"watched_ms\":9007199254740993"),
            "'watched_ms' is above 9007199254740992");
  EXPECT_NE(with("\"watched_ms\":0", "\"watched_ms\":-1"), "");
  EXPECT_NE(with("\"ages\"", "\"agos\""), "");
  for (const char* const text : {"", "[]", "{}", "7", "{\"hazard_format\":1,\"ages\":[1,2]}"}) {
    EXPECT_FALSE(HazardModel::from_text(text)) << text;
  }
}

}  // namespace hazard_test
}  // namespace
}  // namespace outlast::job
