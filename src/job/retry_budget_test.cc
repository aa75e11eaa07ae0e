#include "job/retry_budget.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace outlast::job {
namespace {
namespace retry_budget_test {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = AttemptEnd::Kind;

AttemptEnd failed(std::uint64_t step, Seq checkpoint, std::uint64_t checkpoint_step) {
  return {.kind = Kind::kFailed,
          .death = "exit code 1",
          .step = step,
          .checkpoint = checkpoint,
          .checkpoint_step = checkpoint_step};
}

TEST(RetryBudget, CountsFailuresAndThenStops) {
  std::vector<AttemptEnd> ends;
  for (const int wait : {1, 2, 4}) {
    ends.push_back(failed(100 + ends.size(), 1, 50));
    const RetryDecision decision = decide_retry(ends, 3);
    EXPECT_TRUE(decision.again);
    EXPECT_EQ(decision.wait, seconds(wait));
    EXPECT_EQ(decision.failures, ends.size());
  }
  EXPECT_EQ(decide_retry(ends, 3).why,
            "the trainer died of exit code 1 at step 102; retry 3 of 3 in 4s");
  ends.push_back(failed(200, 1, 50));
  EXPECT_FALSE(decide_retry(ends, 3).again);
  EXPECT_EQ(decide_retry(ends, 3).why,
            "the trainer died of exit code 1 at step 200, and the job's 3 retries without progress "
            "are used up");
}

TEST(RetryBudget, NoRetriesMeansNone) {
  const std::vector<AttemptEnd> ends = {AttemptEnd{.death = "SIGSEGV"}};
  EXPECT_FALSE(decide_retry(ends, 0).again);
  EXPECT_EQ(decide_retry(ends, 0).why, "the trainer died of SIGSEGV, and the job allows no retry");
}

TEST(RetryBudget, PreemptionsAndLeavesNeverCount) {
  std::vector<AttemptEnd> ends(1'000, AttemptEnd{.kind = Kind::kPreempted});
  EXPECT_TRUE(decide_retry(ends, 0).again);
  EXPECT_EQ(decide_retry(ends, 0).wait, Duration::zero());
  EXPECT_EQ(decide_retry(ends, 0).why, "the machine was taken away, which is no failure");
  ends.push_back(AttemptEnd{.kind = Kind::kLeft});
  EXPECT_TRUE(decide_retry(ends, 0).again);
  ends.push_back(failed(10, 0, 0));
  EXPECT_EQ(decide_retry(ends, 3).failures, 1U);
}

TEST(RetryBudget, ATrainerThatOnlyLeavesCannotSpin) {
  const AttemptEnd left{.kind = Kind::kLeft, .checkpoint = 3};
  std::vector<AttemptEnd> ends = {left};
  EXPECT_EQ(decide_retry(ends, 0).wait, Duration::zero());
  EXPECT_EQ(decide_retry(ends, 0).why, "the trainer left as it should, which is no failure");
  ends = {left, left, left};
  EXPECT_TRUE(decide_retry(ends, 0).again);
  EXPECT_EQ(decide_retry(ends, 0).wait, seconds(2));
  EXPECT_EQ(decide_retry(ends, 0).why,
            "the trainer left 3 times in a row without progress; on in 2s");
  ends.push_back(AttemptEnd{.kind = Kind::kLeft, .checkpoint = 4});
  EXPECT_EQ(decide_retry(ends, 0).wait, Duration::zero());
}

TEST(RetryBudget, ProgressGivesItBack) {
  std::vector<AttemptEnd> ends = {failed(10, 1, 5), failed(11, 1, 5), failed(12, 1, 5)};
  EXPECT_EQ(decide_retry(ends, 3).failures, 3U);
  ends.push_back(failed(20, 2, 15));
  EXPECT_EQ(decide_retry(ends, 3).failures, 1U);
  EXPECT_EQ(decide_retry(ends, 3).wait, kRetryWaitFirst);
  // Also if it was made by an attempt that did not fail.
  ends = {failed(10, 1, 5), failed(11, 1, 5),
          AttemptEnd{.kind = Kind::kPreempted, .checkpoint = 2, .checkpoint_step = 9},
          failed(12, 2, 9)};
  EXPECT_EQ(decide_retry(ends, 3).failures, 1U);
}

TEST(RetryBudget, ANewCheckpointOfTheSameStepIsNoProgress) {
  std::vector<AttemptEnd> ends;
  for (Seq seq = 1; seq <= 4; ++seq) ends.push_back(failed(12, seq, 10));
  EXPECT_FALSE(decide_retry(ends, 3).again);
  // Where no step is known, a newer one has to do.
  for (AttemptEnd& end : ends) end.checkpoint_step = std::nullopt;
  EXPECT_EQ(decide_retry(ends, 3).failures, 1U);
}

TEST(RetryBudget, NamesTheSameDeathAtTheSameStep) {
  std::vector<AttemptEnd> ends = {failed(400, 1, 300), AttemptEnd{.kind = Kind::kPreempted},
                                  failed(400, 1, 300)};
  EXPECT_EQ(decide_retry(ends, 3).deaths, 2U);
  EXPECT_EQ(decide_retry(ends, 3).why,
            "the trainer died 2 times in a row of exit code 1 at step 400; retry 2 of 3 in 2s");
  ends.push_back(failed(401, 1, 300));
  EXPECT_EQ(decide_retry(ends, 3).deaths, 1U);
  ends.push_back(failed(401, 1, 300));
  ends.back().death = "SIGSEGV";
  EXPECT_EQ(decide_retry(ends, 9).deaths, 1U);
  // Steps that nobody told of are not the same.
  ends = {AttemptEnd{.death = "SIGSEGV"}, AttemptEnd{.death = "SIGSEGV"}};
  EXPECT_EQ(decide_retry(ends, 9).deaths, 1U);
}

TEST(RetryBudget, WaitsHaveALimit) {
  const std::vector<AttemptEnd> ends(200, failed(1, 0, 0));
  EXPECT_EQ(decide_retry(ends, 1'000).wait, minutes(5));
}

AttemptEnd any_end() {
  AttemptEnd end;
  end.kind = static_cast<Kind>(*rc::gen::inRange(0, 3));
  end.death = *rc::gen::element<std::string>("exit code 1", "SIGSEGV");
  if (*rc::gen::arbitrary<bool>()) end.step = *rc::gen::inRange(0, 4);
  end.checkpoint = *rc::gen::inRange<Seq>(0, 4);
  if (*rc::gen::arbitrary<bool>()) end.checkpoint_step = *rc::gen::inRange(0, 4);
  return end;
}

std::vector<AttemptEnd> any_ends() {
  std::vector<AttemptEnd> ends(*rc::gen::inRange<std::size_t>(1, 12));
  for (AttemptEnd& end : ends) end = any_end();
  return ends;
}

RC_GTEST_PROP(RetryBudgetProperty, PreemptionsChangeNothing, ()) {
  std::vector<AttemptEnd> ends = any_ends();
  ends.back().kind = Kind::kFailed;
  const RetryDecision without = decide_retry(ends, 3);
  const auto where =
      ends.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(ends.size()));
  ends.insert(where, AttemptEnd{.kind = Kind::kPreempted, .checkpoint = 9});
  const RetryDecision with = decide_retry(ends, 3);
  RC_ASSERT(with.again == without.again && with.wait == without.wait && with.why == without.why);
}

RC_GTEST_PROP(RetryBudgetProperty, MoreRetriesNeverEndAJobSooner, ()) {
  const std::vector<AttemptEnd> ends = any_ends();
  const auto retries = *rc::gen::inRange<std::uint64_t>(0, 10);
  const RetryDecision fewer = decide_retry(ends, retries);
  RC_ASSERT(!fewer.again || decide_retry(ends, retries + 1).again);
  RC_ASSERT(decide_retry(ends, std::numeric_limits<std::uint64_t>::max()).again);
  RC_ASSERT(fewer.wait >= Duration::zero() && fewer.wait <= kRetryWaitMax);
  RC_ASSERT(!fewer.why.empty());
}

}  // namespace retry_budget_test
}  // namespace
}  // namespace outlast::job
