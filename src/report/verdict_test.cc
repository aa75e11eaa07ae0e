#include "report/verdict.h"

#include <gtest/gtest.h>

#include <string>

#include "drill/report.h"
#include "report/figures.h"
#include "report/testing/sample_reports.h"

namespace outlast::report {
namespace {

using testing::failed_report;
using testing::passed_report;

Verdict judged(const drill::Report& report) {
  return verdict_of(report, figures_of(report));
}

TEST(Verdict, SaysInOneSentenceThatAllWentWell) {
  const Verdict verdict = judged(passed_report(6));
  EXPECT_EQ(verdict.sentence, "Survived 5 of 5 preemptions: nothing was lost, bit-identical");
  EXPECT_EQ(verdict.tone, Tone::kGood);
}

TEST(Verdict, NamesTheExpectationsThatFailed) {
  const Verdict verdict = judged(failed_report());
  EXPECT_EQ(verdict.sentence, "2 of 3 expectations failed: lost<=0, identical");
  EXPECT_EQ(verdict.tone, Tone::kBad);
}

TEST(Verdict, WithoutExpectationsWhatWasFoundIsSaidAllTheSame) {
  drill::Report report = failed_report();
  report.expectations.clear();
  report.is_passed = true;
  const Verdict verdict = judged(report);
  EXPECT_EQ(verdict.sentence,
            "Survived 4 of 4 preemptions: lost 103 steps, 10s, the result differs");
  EXPECT_EQ(verdict.tone, Tone::kMixed);
}

TEST(Verdict, PartOfAStepIsNotNothing) {
  drill::Report report = passed_report(3);
  report.disturbed.lives[0].lost_seconds = 0.4;
  EXPECT_EQ(judged(report).sentence,
            "Survived 2 of 2 preemptions: no step was lost, bit-identical");
}

TEST(Verdict, AJobThatDidNotGetDoneIsNoSuccess) {
  drill::Report report = passed_report(3);
  report.expectations.clear();
  report.disturbed.outcome = "failed";
  report.disturbed.lives.back().outcome = "failed";
  report.comparison.reset();
  const Verdict verdict = judged(report);
  EXPECT_EQ(verdict.tone, Tone::kBad);
  EXPECT_EQ(verdict.sentence,
            "Survived 2 of 2 preemptions: nothing was lost; the job did not get done");
}

TEST(Verdict, ADrillThatDidNotPassIsNeverGood) {
  drill::Report report = passed_report(2);
  report.is_passed = false;
  EXPECT_EQ(judged(report).tone, Tone::kBad);
  EXPECT_EQ(judged({}).tone, Tone::kBad);
}

TEST(Verdict, OnePreemptionIsOne) {
  EXPECT_EQ(judged(passed_report(2)).sentence,
            "Survived 1 of 1 preemption: nothing was lost, bit-identical");
  EXPECT_EQ(judged(passed_report(1)).sentence, "No machine was taken away: bit-identical");
}

}  // namespace
}  // namespace outlast::report
