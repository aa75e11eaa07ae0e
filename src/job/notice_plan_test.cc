#include "job/notice_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/time.h"

namespace outlast::job {
namespace {
namespace notice_plan_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr MonoTime kNow = MonoTime(hours(5));
constexpr std::uint64_t kMiB = 1U << 20U;

// A trainer that can be asked, on a machine where everything was measured.
NoticeFacts measured() {
  NoticeFacts facts;
  facts.now = kNow;
  facts.time_left = seconds(120);
  facts.bandwidth = 100.0 * kMiB;
  facts.commit_time = seconds(1);
  facts.can_ask = true;
  facts.save_time = seconds(4);
  facts.state_bytes = 4000 * kMiB;
  facts.new_share = 0.5;
  return facts;
}

TEST(NoticePlan, TrainsUntilTheLastSafeSecond) {
  const NoticePlan plan = plan_notice(measured());
  EXPECT_EQ(plan.choice, NoticeChoice::kFreshSave);
  // 120 s less 12 s and the 1 s of a commit; before that 20 s of upload and 4 s of saving.
  EXPECT_EQ(plan.commit_by, kNow + seconds(107));
  EXPECT_EQ(plan.ask_by, kNow + seconds(83));
  EXPECT_EQ(plan.why,
            "a fresh save: saving takes 4s and 2.0 GiB of a fresh state at 100.0 MiB/s take 20s, "
            "and 1m47s of the 2m left can be used; the trainer is asked in 1m23s at the latest");
}

TEST(NoticePlan, ADeadlineThatIsAGuessIsNotWaitedFor) {
  NoticeFacts facts = measured();
  facts.confidence = NoticeConfidence::kPossible;
  const NoticePlan plan = plan_notice(facts);
  EXPECT_EQ(plan.choice, NoticeChoice::kFreshSave);
  EXPECT_EQ(plan.ask_by, kNow);
  EXPECT_TRUE(plan.why.ends_with("the trainer is asked at once")) << plan.why;
}

TEST(NoticePlan, WhatWasNotMeasuredIsNotTrustedToTheLastSecond) {
  NoticeFacts facts = measured();
  facts.bandwidth = std::nullopt;
  facts.bandwidth_guess = 50.0 * kMiB;
  const NoticePlan plan = plan_notice(facts);
  EXPECT_EQ(plan.choice, NoticeChoice::kFreshSave);
  EXPECT_EQ(plan.ask_by, kNow);
  EXPECT_NE(plan.why.find("at 50.0 MiB/s (a guess) take 40s"), plan.why.npos) << plan.why;
  facts = measured();
  facts.save_time = std::nullopt;
  EXPECT_EQ(plan_notice(facts).ask_by, kNow);
  EXPECT_NE(plan_notice(facts).why.find("saving takes 10s (a guess)"), plan.why.npos);
  facts = measured();
  facts.commit_time = std::nullopt;
  EXPECT_EQ(plan_notice(facts).ask_by, kNow);
}

TEST(NoticePlan, AGuessNeedNotBeAskedTenMinutesEarly) {
  NoticeFacts facts = {.now = kNow, .time_left = minutes(10), .can_ask = true};
  facts.state_bytes = 10 * kMiB;
  // Of the nine and a half minutes that can be used, two are enough for many times what is guessed.
  EXPECT_EQ(plan_notice(facts).ask_by, kNow + minutes(10) - seconds(32) - kNoticeGuessMin);
  facts.state_bytes.reset();
  EXPECT_EQ(plan_notice(facts).ask_by, kNow + minutes(10) - seconds(32) - kNoticeUnknownMin);
  facts.time_left = minutes(2);
  EXPECT_EQ(plan_notice(facts).ask_by, kNow);
}

TEST(NoticePlan, UploadsWhatIsHeldWhenAFreshSaveIsTooSlow) {
  NoticeFacts facts = measured();
  facts.time_left = seconds(25);
  facts.held_bytes = 1000 * kMiB;
  const NoticePlan plan = plan_notice(facts);
  EXPECT_EQ(plan.choice, NoticeChoice::kHeldState);
  EXPECT_FALSE(plan.ask_by);
  EXPECT_EQ(plan.commit_by, kNow + milliseconds(21'500));
  EXPECT_EQ(plan.why,
            "the state on the disk: 1000.0 MiB of it at 100.0 MiB/s take 10s, and 22s of the 25s "
            "left can be used; a fresh one does not fit: saving takes 4s and 2.0 GiB of a fresh "
            "state at 100.0 MiB/s take 20s");
}

TEST(NoticePlan, UploadsWhatIsHeldWhenTheTrainerCannotBeAsked) {
  NoticeFacts facts = measured();
  facts.can_ask = false;
  facts.held_bytes = 0;
  const NoticePlan plan = plan_notice(facts);
  EXPECT_EQ(plan.choice, NoticeChoice::kHeldState);
  EXPECT_TRUE(plan.why.ends_with("the trainer cannot be asked for a fresh one")) << plan.why;
}

TEST(NoticePlan, KeepsWhatIsCommittedWhenNothingFits) {
  NoticeFacts facts = measured();
  facts.time_left = seconds(10);
  facts.held_bytes = 1000 * kMiB;
  const NoticePlan plan = plan_notice(facts);
  EXPECT_EQ(plan.choice, NoticeChoice::kKeepCommitted);
  EXPECT_FALSE(plan.ask_by || plan.commit_by);
  EXPECT_EQ(plan.why,
            "what is committed has to do: 1000.0 MiB of the state on the disk at 100.0 MiB/s take "
            "10s, saving takes 4s and 2.0 GiB of a fresh state at 100.0 MiB/s take 20s, and 8s of "
            "the 10s left can be used");
  facts.time_left = -seconds(1);
  EXPECT_EQ(plan_notice(facts).choice, NoticeChoice::kKeepCommitted);
  facts = {.now = kNow, .time_left = seconds(60)};
  EXPECT_EQ(plan_notice(facts).choice, NoticeChoice::kKeepCommitted);
}

TEST(NoticePlan, AStateOfUnknownSizeIsTriedOnlyIfNothingIsHeld) {
  NoticeFacts facts = measured();
  facts.state_bytes = std::nullopt;
  EXPECT_EQ(plan_notice(facts).choice, NoticeChoice::kFreshSave);
  EXPECT_EQ(plan_notice(facts).ask_by, kNow);
  EXPECT_FALSE(notice_margin(facts));
  facts.held_bytes = kMiB;
  EXPECT_EQ(plan_notice(facts).choice, NoticeChoice::kHeldState);
  facts.held_bytes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(plan_notice(facts).choice, NoticeChoice::kKeepCommitted);
}

TEST(NoticePlan, OfALongNoticeLittleIsKeptBack) {
  NoticeFacts facts = measured();
  facts.time_left = hours(24);
  EXPECT_EQ(plan_notice(facts).commit_by, kNow + hours(24) - kNoticeReserveMax - seconds(1));
}

TEST(NoticeMargin, IsWhatIsLeftOfTheUsableTime) {
  EXPECT_EQ(notice_margin(measured()), seconds(83));
  NoticeFacts facts = measured();
  facts.time_left = seconds(20);
  EXPECT_EQ(notice_margin(facts), -seconds(7));
  facts.can_ask = false;  // nothing is unsaved that could be saved
  EXPECT_EQ(notice_margin(facts), seconds(17));
  facts.held_bytes = 2000 * kMiB;
  EXPECT_EQ(notice_margin(facts), -seconds(3));
}

Duration any_time() {
  return *rc::gen::oneOf(rc::gen::map(rc::gen::inRange<std::int64_t>(-1'000, 600'000),
                                      [](std::int64_t ms) { return Duration(milliseconds(ms)); }),
                         rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                                      [](std::int64_t ns) { return Duration(ns); }),
                         rc::gen::element(Duration::min(), Duration::max()));
}

std::uint64_t any_bytes() {
  return *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(0, 100'000 * kMiB),
                         rc::gen::arbitrary<std::uint64_t>(),
                         rc::gen::just(std::numeric_limits<std::uint64_t>::max()));
}

double any_bandwidth() {
  return *rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(0, 10'000),
                   [](int mib) { return mib * static_cast<double>(kMiB); }),
      rc::gen::element(0.0, -1.0, 1e-300, 1e300, std::numeric_limits<double>::quiet_NaN()));
}

NoticeFacts any_facts() {
  const auto sometimes = [](auto make) {
    using Value = decltype(make());
    return *rc::gen::arbitrary<bool>() ? std::optional<Value>(make()) : std::nullopt;
  };
  NoticeFacts facts;
  facts.now = kNow;
  facts.time_left = any_time();
  facts.confidence =
      *rc::gen::arbitrary<bool>() ? NoticeConfidence::kCertain : NoticeConfidence::kPossible;
  facts.bandwidth = sometimes(any_bandwidth);
  facts.bandwidth_guess = any_bandwidth();
  facts.commit_time = sometimes(any_time);
  facts.can_ask = *rc::gen::arbitrary<bool>();
  facts.save_time = sometimes(any_time);
  facts.state_bytes = sometimes(any_bytes);
  facts.new_share = *rc::gen::inRange(-10, 120) / 100.0;
  facts.held_bytes = sometimes(any_bytes);
  return facts;
}

RC_GTEST_PROP(NoticePlanProperty, NeverPlansPastTheEnd, ()) {
  const NoticeFacts facts = any_facts();
  const NoticePlan plan = plan_notice(facts);
  const bool saves = plan.choice != NoticeChoice::kKeepCommitted;
  RC_ASSERT(plan.commit_by.has_value() == saves);
  RC_ASSERT(plan.ask_by.has_value() == (plan.choice == NoticeChoice::kFreshSave));
  RC_ASSERT(!plan.why.empty());
  if (!saves) return;
  RC_ASSERT(*plan.commit_by >= kNow);
  RC_ASSERT(*plan.commit_by <= saturating_add(kNow, facts.time_left));
  if (facts.commit_time && *facts.commit_time < hours(1'000'000)) {
    RC_ASSERT(saturating_add(*plan.commit_by, *facts.commit_time) <=
              saturating_add(kNow, facts.time_left));
  }
  if (plan.ask_by) RC_ASSERT(kNow <= *plan.ask_by && *plan.ask_by <= *plan.commit_by);
}

RC_GTEST_PROP(NoticePlanProperty, MoreTimeOrBandwidthNeverMakesTheChoiceWorse, ()) {
  const NoticeFacts facts = any_facts();
  const NoticeChoice choice = plan_notice(facts).choice;
  NoticeFacts better = facts;
  better.time_left = std::max(facts.time_left, any_time());
  RC_ASSERT(plan_notice(better).choice >= choice);
  better = facts;
  if (!facts.bandwidth) return;
  better.bandwidth = std::max(*facts.bandwidth, any_bandwidth());
  RC_ASSERT(plan_notice(better).choice >= choice);
}

RC_GTEST_PROP(NoticePlanProperty, TheMarginSaysWhetherTheBestChoiceFits, ()) {
  const NoticeFacts facts = any_facts();
  const auto margin = notice_margin(facts);
  RC_PRE(margin.has_value());
  RC_PRE(facts.can_ask || facts.held_bytes);
  const NoticeChoice best = facts.can_ask ? NoticeChoice::kFreshSave : NoticeChoice::kHeldState;
  if (*margin > Duration::zero()) RC_ASSERT(plan_notice(facts).choice == best);
  if (*margin < Duration::zero()) RC_ASSERT(plan_notice(facts).choice != best);
}

}  // namespace notice_plan_test
}  // namespace
}  // namespace outlast::job
