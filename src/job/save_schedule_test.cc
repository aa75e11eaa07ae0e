#include "job/save_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/time.h"
#include "job/spec.h"

namespace outlast::job {
namespace {
namespace save_schedule_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Unit = CheckpointEvery::Unit;

constexpr MonoTime kStart = MonoTime(hours(1));
constexpr CheckpointEvery kSteps500 = {.unit = Unit::kSteps, .time = {}, .count = 500};

SaveFacts measured(Duration cost, Duration upload, Duration mean) {
  SaveFacts facts;
  facts.now = kStart + seconds(1);
  facts.last_save = kStart;
  facts.save_cost = cost;
  facts.upload_time = upload;
  facts.mean_time_to_failure = mean;
  return facts;
}

Duration any_duration() {
  return *rc::gen::oneOf(rc::gen::map(rc::gen::inRange<std::int64_t>(0, 3'600'000),
                                      [](std::int64_t ms) { return Duration(milliseconds(ms)); }),
                         rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                                      [](std::int64_t ns) { return Duration(ns); }),
                         rc::gen::element(Duration::min(), Duration::max(), Duration::zero()));
}

// The time that work of 1 takes, saves and failures included, if it is saved every `interval`; for
// failures that come at random (exponentially). Exact, but for the restart, which no interval
// changes.
double expected_time(double interval, double cost, double mean) {
  return mean * std::expm1((interval + cost) / mean) / interval;
}

TEST(DalyInterval, IsCloseToTheBestThereIs) {
  const double mean = 10'000;
  for (const double cost : {0.01, 0.1, 1.0, 10.0, 100.0, 1'000.0, 5'000.0, 20'000.0}) {
    double best = std::numeric_limits<double>::infinity();
    for (double interval = 0.1; interval < 100'000; interval *= 1.001) {
      best = std::min(best, expected_time(interval, cost, mean));
    }
    const Duration chosen =
        daly_interval(milliseconds(static_cast<std::int64_t>(cost * 1000)), seconds(10'000));
    const double seconds_chosen = std::chrono::duration<double>(chosen).count();
    const double time = expected_time(seconds_chosen, cost, mean);
    EXPECT_LT((time - best) / best, 0.002) << cost;
    // The same for what is lost, which is what an interval can be good or bad at.
    if (cost > 1'000) continue;
    EXPECT_LT((time - best) / (best - 1), 0.001) << cost;
  }
}

TEST(DalyInterval, IsWhatItsFormulaGives) {
  // C = 50 s, M = 10,000 s: sqrt(2 C M) = 1000 s, C / 2M = 1/400.
  const double expected = 1000 * (1 + 0.05 / 3 + 0.0025 / 9) - 50;
  EXPECT_NEAR(std::chrono::duration<double>(daly_interval(seconds(50), seconds(10'000))).count(),
              expected, 1e-6);
}

TEST(DalyInterval, IsNothingForNothing) {
  EXPECT_EQ(daly_interval({}, hours(1)), Duration::zero());
  EXPECT_EQ(daly_interval(seconds(1), {}), Duration::zero());
  EXPECT_EQ(daly_interval(Duration::min(), Duration::min()), Duration::zero());
  EXPECT_LT(daly_interval(hours(9), minutes(9)), minutes(9));
}

RC_GTEST_PROP(DalyIntervalProperty, NeverFallsWithTheCostOrTheTimeToFailure, ()) {
  const auto almost = [](Duration low, Duration high) {  // but for the last digits
    return static_cast<double>(low.count()) <= static_cast<double>(high.count()) * (1 + 1e-12) + 1;
  };
  const Duration cost = any_duration();
  const Duration mean = any_duration();
  const Duration other = any_duration();
  RC_ASSERT(almost(daly_interval(std::min(cost, other), mean),
                   daly_interval(std::max(cost, other), mean)));
  RC_ASSERT(almost(daly_interval(cost, std::min(mean, other)),
                   daly_interval(cost, std::max(mean, other))));
}

RC_GTEST_PROP(AutoIntervalProperty, KeepsItsBounds, ()) {
  SaveFacts facts = measured(any_duration(), any_duration(), any_duration());
  if (*rc::gen::arbitrary<bool>()) facts.save_cost = std::nullopt;
  const Duration interval = auto_interval(facts);
  const Duration upload = *facts.upload_time;
  RC_ASSERT(interval >= upload);
  RC_ASSERT(interval >= kSaveIntervalMin);
  const Duration cost = facts.save_cost.value_or(Duration::zero());
  RC_ASSERT(interval <= std::max(kSaveIntervalMax, upload) ||
            interval / kSaveCostSharesMin <= cost);
}

RC_GTEST_PROP(AutoIntervalProperty, DearerSavesAndSaferPlacesNeverShortenIt, ()) {
  const Duration cost = milliseconds(*rc::gen::inRange(0, 600'000));
  const Duration more = cost + milliseconds(*rc::gen::inRange(0, 600'000));
  const Duration mean = seconds(*rc::gen::inRange(1, 1'000'000));
  const Duration longer = mean + seconds(*rc::gen::inRange(0, 1'000'000));
  const Duration upload = seconds(*rc::gen::inRange(0, 7'200));
  const Duration interval = auto_interval(measured(cost, upload, mean));
  const Duration slack = milliseconds(1);
  RC_ASSERT(interval <= auto_interval(measured(more, upload, mean)) + slack);
  RC_ASSERT(interval <= auto_interval(measured(cost, upload, longer)) + slack);
}

RC_GTEST_PROP(NextSaveProperty, WhatIsNotDueLiesAhead, ()) {
  SaveFacts facts = measured(any_duration(), any_duration(), any_duration());
  facts.now = MonoTime(any_duration());
  facts.last_save = MonoTime(any_duration());
  if (*rc::gen::arbitrary<bool>()) facts.step = *rc::gen::arbitrary<std::uint64_t>();
  if (*rc::gen::arbitrary<bool>()) facts.last_save_step = *rc::gen::arbitrary<std::uint64_t>();
  const CheckpointEvery every = {.unit = static_cast<Unit>(*rc::gen::inRange(0, 4)),
                                 .time = any_duration(),
                                 .count = *rc::gen::arbitrary<std::uint64_t>()};
  const SaveDue due = next_save(every, facts);
  if (due.kind == SaveDue::Kind::kAtTime) RC_ASSERT(due.time > facts.now);
  if (due.kind == SaveDue::Kind::kAtStep) RC_ASSERT(due.count > facts.step.value());
  RC_ASSERT(!due.why.empty());
}

TEST(NextSave, IsSoonBeforeAnythingIsMeasured) {
  SaveFacts facts;
  facts.now = facts.last_save = kStart;
  facts.mean_time_to_failure = hours(12);
  const SaveDue due = next_save({}, facts);
  EXPECT_EQ(due.kind, SaveDue::Kind::kAtTime);
  EXPECT_EQ(due.time, kStart + kFirstSaveInterval);
  EXPECT_EQ(due.why, "every 1m: what a save costs is not measured yet");
}

TEST(NextSave, AutoSaysWhatItReckonedWith) {
  const SaveDue due = next_save({}, measured(seconds(1), seconds(5), hours(6)));
  EXPECT_EQ(due.kind, SaveDue::Kind::kAtTime);
  EXPECT_EQ(due.why,
            "every 3m27s: a save holds the trainer up for 1s, and a machine here lasts 6h on "
            "average");
}

TEST(NextSave, AutoSaysWhichBoundItMet) {
  EXPECT_EQ(next_save({}, measured(seconds(10), seconds(5), hours(2'000))).why,
            "every 30m: a loss is never to be larger, however safe the place");
  EXPECT_EQ(next_save({}, measured(milliseconds(1), seconds(5), hours(6))).why,
            "every 10s: a save costs only 1ms");
  EXPECT_EQ(next_save({}, measured(seconds(1), hours(1), hours(6))).why,
            "every 1h: that is how long an upload takes");
  // Half an hour would be a third of the time.
  EXPECT_GT(auto_interval(measured(minutes(10), minutes(10), hours(500))), hours(3));
}

TEST(NextSave, IsDueWhenTheTimeHasCome) {
  SaveFacts facts = measured(seconds(1), seconds(5), hours(6));
  facts.now = kStart + auto_interval(facts);
  EXPECT_EQ(next_save({}, facts).kind, SaveDue::Kind::kNow);
  facts.now -= Duration(1);
  EXPECT_EQ(next_save({}, facts).kind, SaveDue::Kind::kAtTime);
}

TEST(NextSave, AFixedTimeIsKeptUnlessAnUploadTakesLonger) {
  const CheckpointEvery every = {.unit = Unit::kTime, .time = minutes(40), .count = 0};
  SaveDue due = next_save(every, measured(seconds(1), seconds(5), hours(6)));
  EXPECT_EQ(due.time, kStart + minutes(40));
  EXPECT_EQ(due.why, "every 40m: as the job says");
  due = next_save(every, measured(seconds(1), minutes(50), hours(6)));
  EXPECT_EQ(due.time, kStart + minutes(50));
}

TEST(NextSave, StepsAreMultiplesWhateverWasSavedBetween) {
  SaveFacts facts = measured(seconds(1), seconds(5), hours(6));
  facts.step = 740;
  facts.last_save_step = 730;
  SaveDue due = next_save(kSteps500, facts);
  EXPECT_EQ(due.kind, SaveDue::Kind::kAtStep);
  EXPECT_EQ(due.count, 1'000U);
  EXPECT_EQ(due.why, "every 500 steps, as the job says");
  facts.step = 1'003;
  EXPECT_EQ(next_save(kSteps500, facts).kind, SaveDue::Kind::kNow);
  facts.last_save_step = 1'003;
  EXPECT_EQ(next_save(kSteps500, facts).count, 1'500U);
  // It started over.
  facts.step = 20;
  EXPECT_EQ(next_save(kSteps500, facts).count, 500U);
  facts.step = 500;
  EXPECT_EQ(next_save(kSteps500, facts).kind, SaveDue::Kind::kNow);
}

TEST(NextSave, EpochsAreCountedToo) {
  SaveFacts facts = measured(seconds(1), seconds(5), hours(6));
  facts.epoch = 3;
  facts.last_save_epoch = 2;
  const SaveDue due = next_save({.unit = Unit::kEpochs, .time = {}, .count = 2}, facts);
  EXPECT_EQ(due.kind, SaveDue::Kind::kAtEpoch);
  EXPECT_EQ(due.count, 4U);
}

TEST(NextSave, GoesByTimeWhileTheStepIsNotKnown) {
  const SaveDue due = next_save(kSteps500, measured(seconds(1), seconds(5), hours(6)));
  EXPECT_EQ(due.kind, SaveDue::Kind::kAtTime);
  EXPECT_TRUE(due.why.starts_with("the trainer does not say its step, so every 3m27s: "))
      << due.why;
}

TEST(NextSave, GoesByTimeIfStepsAreCountedAnewInEachEpoch) {
  SaveFacts facts = measured(seconds(1), seconds(5), hours(6));
  facts.step = 100;
  facts.steps_total = 391;
  EXPECT_EQ(next_save(kSteps500, facts).kind, SaveDue::Kind::kAtTime);
  facts.steps_total = 500;
  EXPECT_EQ(next_save(kSteps500, facts).kind, SaveDue::Kind::kAtStep);
}

}  // namespace save_schedule_test
}  // namespace
}  // namespace outlast::job
