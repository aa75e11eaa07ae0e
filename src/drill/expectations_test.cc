#include "drill/expectations.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "drill/report.h"

namespace outlast::drill {
namespace {

Report two_machines() {
  Report report;
  report.undisturbed = Run{.seconds = 10, .outcome = "done"};
  report.disturbed = {.lives = {{.number = 1,
                                 .injections = {{.notice_to_committed = 1.5}},
                                 .lost_steps = 3,
                                 .lost_seconds = 0.5,
                                 .recovery = 4},
                                {.number = 2, .restored = Life::Restored{}, .outcome = "done"}},
                      .seconds = 12,
                      .outcome = "done"};
  report.comparison = Comparison{.is_identical = true, .files = 2};
  return report;
}

Expectation judged(std::string_view text, const Report& report) {
  const auto expected = parse_expectations(text);
  EXPECT_TRUE(expected) << expected.error().to_string();
  return judge(*expected, report).front();
}

std::string refusal(std::string_view text) {
  const auto expected = parse_expectations(text);
  return expected ? "" : expected.error().to_string();
}

TEST(Expectations, AreJudgedByTheWorstMachine) {
  const Report report = two_machines();
  EXPECT_TRUE(judged("lost<=3", report).is_met);
  EXPECT_FALSE(judged("lost<=2", report).is_met);
  EXPECT_EQ(judged("lost<=2", report).found, "3 steps of machine 1");
  EXPECT_TRUE(judged("lost<=500ms", report).is_met);
  EXPECT_FALSE(judged("lost <= 0.4s", report).is_met);
  EXPECT_EQ(judged("recovery<=3s", report).found, "4s after machine 1");
  EXPECT_TRUE(judged("committed<=2s", report).is_met);
  EXPECT_EQ(judged("committed<=1s", report).found, "1.5s on machine 1");
  EXPECT_TRUE(judged("overhead<=20%", report).is_met);
  EXPECT_EQ(judged("overhead<=19%", report).found, "20%");
  EXPECT_EQ(judged("identical", report).found, "2 files");
  EXPECT_EQ(judged("resumed", report).found, "1 of 1 machines");
  EXPECT_TRUE(judged("clean", report).is_met);
}

TEST(Expectations, WhatCannotBeToldIsNotMet) {
  Report report = two_machines();
  report.comparison.reset();
  report.disturbed.lives[0].lost_steps.reset();
  report.disturbed.lives[0].injections[0].notice_to_committed.reset();
  report.undisturbed.reset();
  EXPECT_FALSE(judged("lost<=3", report).is_met);
  EXPECT_EQ(judged("lost<=3", report).found,
            "cannot be told: no steps could be read from what the trainer prints");
  EXPECT_FALSE(judged("identical", report).is_met);
  EXPECT_FALSE(judged("overhead<=20%", report).is_met);
  EXPECT_FALSE(judged("committed<=20s", report).is_met);
  EXPECT_EQ(judged("committed<=20s", report).found, "machine 1 was gone before");
}

TEST(Expectations, ATrainerThatDoesNotRepeatItselfIsOnlyHeldToItIfSomebodySaysSo) {
  Report report = two_machines();
  report.comparison = Comparison{.files = 2, .differences = {"a differs"}, .is_repeatable = false};
  EXPECT_FALSE(judged("identical", report).is_met);
  EXPECT_TRUE(judge(default_expectations(), report)[1].is_met);
  report.comparison->is_repeatable = true;
  EXPECT_FALSE(judge(default_expectations(), report)[1].is_met);
}

TEST(Expectations, ResumedMeansThatSomebodyDidAndNobodyDidNot) {
  Report report = two_machines();
  report.findings = {{.id = "does-not-resume"}};
  EXPECT_FALSE(judged("resumed", report).is_met);
  report.findings.clear();
  report.disturbed.lives[1].restored.reset();
  EXPECT_EQ(judged("resumed", report).found,
            "nothing was saved that a machine could have gone on from");
  report.disturbed.lives.resize(1);
  EXPECT_EQ(judged("resumed", report).found, "no machine was lost before the job was done");
}

TEST(Expectations, RefuseWhatIsNone) {
  EXPECT_EQ(refusal("lost<=x"),
            "the expectation 'lost<=x': a number of steps, or a time such as 10s, is due");
  EXPECT_EQ(refusal("recovery<=90"), "the expectation 'recovery<=90': a time such as 90s is due");
  EXPECT_EQ(refusal("overhead<=20"),
            "the expectation 'overhead<=20': a percentage such as 20% is due");
  EXPECT_NE(refusal("lost<0").find("are known"), std::string::npos);
  EXPECT_NE(refusal("").find("are known"), std::string::npos);
  EXPECT_NE(refusal("identical,").find("are known"), std::string::npos);
  EXPECT_NE(refusal("lost<=-1").find("is due"), std::string::npos);
}

TEST(Expectations, ARehearsalThatCameToNothingIsNotPassed) {
  Report report = two_machines();
  EXPECT_TRUE(judge_rehearsal(report).empty());
  report.disturbed.outcome = "failed";
  ASSERT_EQ(judge_rehearsal(report).size(), 1U);
  EXPECT_FALSE(judge_rehearsal(report)[0].is_met);
  EXPECT_EQ(judge_rehearsal(report)[0].found, "machine 2 ended as 'failed'");
  report = two_machines();
  report.disturbed.lives[0].injections.clear();
  ASSERT_EQ(judge_rehearsal(report).size(), 1U);
  EXPECT_EQ(judge_rehearsal(report)[0].text, "disturbed");
}

}  // namespace
}  // namespace outlast::drill
