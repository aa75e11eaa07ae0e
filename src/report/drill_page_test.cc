#include "report/drill_page.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/utf8.h"
#include "drill/report.h"
#include "report/testing/sample_reports.h"

namespace outlast::report {
namespace {

bool has(const std::string& page, std::string_view text) {
  return page.find(text) != std::string::npos;
}

TEST(DrillPage, TheVerdictComesBeforeEverythingElse) {
  const std::string page = render_drill_page(testing::passed_report());
  const auto verdict = page.find(
      "<span class=\"sentence\">Survived 5 of 5 preemptions: nothing was "
      "lost, bit-identical</span>");
  ASSERT_NE(verdict, std::string::npos);
  EXPECT_LT(verdict, page.find("<dl"));
  EXPECT_LT(verdict, page.find("<svg"));
  EXPECT_TRUE(has(page, "<code>recovery&lt;=90s</code>"));
}

TEST(DrillPage, NamesNothingOutsideItself) {
  for (const auto& report : {testing::passed_report(), testing::failed_report()}) {
    const std::string page = render_drill_page(report);
    for (const std::string_view part : {"http:", "https:", "//", "src=", "url(", "@import",
                                        "<script", "<link", " style=", "onload"}) {
      EXPECT_FALSE(has(page, part)) << part;
    }
    EXPECT_TRUE(has(page, "default-src &#39;none&#39;"));
  }
}

TEST(DrillPage, WhatComesFromOutsideIsOnlyText) {
  const std::string page = render_drill_page(testing::hostile_report());
  EXPECT_TRUE(is_utf8(page));
  for (const std::string_view part : {"<script", "<img", "</ul>\">", "<style>body", "\x1b"}) {
    EXPECT_FALSE(has(page, part)) << part;
  }
  EXPECT_TRUE(has(page, "&lt;script&gt;document.title=&#39;owned&#39;"));
  EXPECT_EQ(page.find("</title>"), page.find("</title><style>"));
  EXPECT_EQ(page.find('\0'), std::string::npos);
}

TEST(DrillPage, FindingsComeWithEvidenceAndAdvice) {
  const std::string page = render_drill_page(testing::failed_report());
  EXPECT_TRUE(has(page, "<h3>After a restore the data comes in another order.</h3>"));
  EXPECT_TRUE(has(page, "<code>undisturbed: step 302 loss=1.4182</code>"));
  EXPECT_TRUE(has(page, "Handle SIGTERM: save, then exit."));
  EXPECT_TRUE(has(page, "so the preemptions made the difference"));
  EXPECT_FALSE(has(render_drill_page(testing::passed_report()), "Findings"));
}

TEST(DrillPage, TellsHowToRepeatItInWordsForAShell) {
  drill::Report report = testing::passed_report();
  report.command = "python3 train.py";
  EXPECT_TRUE(has(render_drill_page(report),
                  "outlast drill --as gce --preemptions 5 --notice-time 6s --expect "
                  "&#39;lost&lt;=0,recovery&lt;=90s,identical&#39; -- python3 train.py"));
}

TEST(DrillPage, TroublesThatDidNotComeAboutAreSaid) {
  drill::Report report = testing::passed_report();
  report.planned = 9;
  const std::string page = render_drill_page(report);
  EXPECT_TRUE(has(page, "6s notice; 9 were planned, but the job was done before"));
  EXPECT_TRUE(has(page, "--preemptions 9"));
}

TEST(DrillPage, AMachineWhoseTrainerFailedSaysSo) {
  drill::Report report = testing::failed_report();
  report.disturbed.lives[3].outcome = "hung";
  EXPECT_TRUE(has(render_drill_page(report), "<div class=\"foreign\">hung</div>"));
}

TEST(DrillPage, AnEmptyReportIsAPage) {
  const std::string page = render_drill_page({});
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_TRUE(has(page, "No machine was taken away; the job did not get done"));
}

TEST(DrillPage, NumbersThatAreNoneAreNotShown) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double value : {kNan, kInfinite, -kInfinite, -5.0, 1e300}) {
    drill::Report report = testing::failed_report();
    report.notice_time = value;
    report.disturbed.seconds = value;
    report.undisturbed->seconds = value;
    for (drill::Life& life : report.disturbed.lives) {
      life.began = life.ended = value;
      life.training = life.progress = life.left = life.lost_seconds = life.recovery = value;
      for (drill::Injection& each : life.injections) {
        each.at = each.notice_time = value;
        each.heard = each.asked = each.committed = each.notice_to_committed = value;
      }
      for (drill::Save& each : life.saves) each.at = each.seconds = value;
    }
    std::string page = render_drill_page(report);
    page.erase(0, page.find("<body>"));
    EXPECT_FALSE(has(page, "nan")) << value;
    EXPECT_FALSE(has(page, "inf%")) << value;
    EXPECT_FALSE(has(page, "inf ")) << value;
    EXPECT_FALSE(has(page, "-inf")) << value;
    EXPECT_LT(page.size(), 100'000U) << value;
  }
}

TEST(DrillPage, TheLargestCountsFit) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  drill::Report report = testing::failed_report();
  report.disturbed.stored_bytes = kMost;
  for (drill::Life& life : report.disturbed.lives) {
    life.number = kMost;
    life.lost_steps = life.first_step = life.last_step = kMost;
    for (drill::Save& save : life.saves) save.bytes = save.stored_bytes = kMost;
  }
  EXPECT_TRUE(has(render_drill_page(report), "lost 18446744073709551615 steps"));
}

TEST(DrillPage, TheSameReportGivesTheSameBytes) {
  const drill::Report report = testing::passed_report(50);
  EXPECT_EQ(render_drill_page(report), render_drill_page(report));
}

}  // namespace
}  // namespace outlast::report
