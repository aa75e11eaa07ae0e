#include "report/timeline_svg.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "drill/report.h"
#include "report/markup.h"
#include "report/testing/sample_reports.h"

namespace outlast::report {
namespace {

std::string drawn(const drill::Report& report) {
  Markup markup;
  write_timeline(markup, report);
  return markup.take();
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST(TimelineSvg, HasALaneForEachLifeAndOneForTheUndisturbedRun) {
  const std::string svg = drawn(testing::passed_report(7));
  EXPECT_EQ(count_of(svg, "class=\"lane\""), 7U);
  EXPECT_EQ(count_of(svg, "class=\"reference\""), 1U);
  EXPECT_EQ(count_of(svg, "class=\"mark notice\""), 6U);
}

TEST(TimelineSvg, MarksEachCommitWithItsStep) {
  const drill::Report report = testing::failed_report();
  std::size_t saves = report.undisturbed->lives[0].saves.size();
  for (const drill::Life& life : report.disturbed.lives) saves += life.saves.size();
  const std::string svg = drawn(report);
  EXPECT_EQ(count_of(svg, "class=\"mark commit\""), saves);
  EXPECT_NE(svg.find("Checkpoint 4 at 9.9s: step 81, 42.8 MiB (7.9 MiB new), took 410ms, first"),
            std::string::npos);
}

TEST(TimelineSvg, ManyLivesGetLowLanes) {
  const auto height = [](const drill::Report& report) {
    const std::string svg = drawn(report);
    const std::size_t at = svg.find("height=\"") + 8;
    return std::stod(svg.substr(at));
  };
  EXPECT_LT(height(testing::passed_report(50)), 1100);
  EXPECT_GT(height(testing::passed_report(50)), height(testing::passed_report(20)));
}

TEST(TimelineSvg, DrawsARunWithoutLivesOrLength) {
  drill::Report report;
  EXPECT_EQ(count_of(drawn(report), "class=\"lane\""), 0U);
  report.undisturbed = drill::Run{.seconds = 12};
  report.disturbed.lives.resize(2);
  const std::string svg = drawn(report);
  EXPECT_EQ(count_of(svg, "class=\"lane\""), 2U);
  EXPECT_NE(svg.find("Took 12s"), std::string::npos);
}

}  // namespace
}  // namespace outlast::report
