#include "report/figures.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "drill/report.h"
#include "report/testing/sample_reports.h"

namespace outlast::report {
namespace {

using testing::failed_report;
using testing::passed_report;

TEST(Figures, CountWhatEndedAMachineApartFromWhatWasTakenBack) {
  const Figures figures = figures_of(failed_report());
  EXPECT_EQ(figures.preemptions, 4U);
  EXPECT_EQ(figures.withdrawn, 1U);
  EXPECT_EQ(figures.survived, 4U);
}

TEST(Figures, MedianAndWorstNameTheMachine) {
  drill::Report report = passed_report(5);
  const double seconds[] = {3, 1, 9, 2};
  for (int i = 0; i < 4; ++i) {
    report.disturbed.lives[static_cast<std::size_t>(i)].recovery = seconds[i];
  }
  const auto recovery = figures_of(report).recovery;
  ASSERT_TRUE(recovery);
  EXPECT_EQ(recovery->median, 2.5);
  EXPECT_EQ(recovery->worst, 9);
  EXPECT_EQ(recovery->worst_life, 3U);
  EXPECT_EQ(recovery->count, 4U);
}

TEST(Figures, ATrainerThatPrintsNoStepsLosesAnUnknownNumber) {
  drill::Report report = passed_report(3);
  for (drill::Life& life : report.disturbed.lives) life.lost_steps.reset();
  EXPECT_FALSE(figures_of(report).lost_steps);
  EXPECT_EQ(figures_of(report).lost_seconds, 0.0);
}

TEST(Figures, LostStepsDoNotWrapAround) {
  drill::Report report = passed_report(3);
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  for (drill::Life& life : report.disturbed.lives) life.lost_steps = kMost;
  EXPECT_EQ(figures_of(report).lost_steps, kMost);
}

TEST(Figures, AJobThatStoppedSurvivedOnlyWhatTrainingWentOnAfter) {
  drill::Report report = passed_report(4);
  report.disturbed.outcome = "failed";
  report.disturbed.lives.back().progress.reset();
  EXPECT_EQ(figures_of(report).survived, 2U);
  EXPECT_FALSE(figures_of(report).overhead_seconds);
}

TEST(Figures, NothingIsKnownOfAnEmptyReport) {
  const Figures figures = figures_of({});
  EXPECT_EQ(figures.preemptions, 0U);
  EXPECT_FALSE(figures.recovery);
  EXPECT_FALSE(figures.notice_to_committed);
  EXPECT_FALSE(figures.overhead_seconds);
}

TEST(Figures, AnUndisturbedRunOfNoLengthHasNoShare) {
  drill::Report report = passed_report(2);
  report.undisturbed->seconds = 0;
  EXPECT_TRUE(figures_of(report).overhead_seconds);
  EXPECT_FALSE(figures_of(report).overhead_share);
}

}  // namespace
}  // namespace outlast::report
