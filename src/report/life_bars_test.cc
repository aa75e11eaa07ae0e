#include "report/life_bars.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "drill/report.h"
#include "report/testing/sample_reports.h"

namespace outlast::report {
namespace {

TEST(LifeBars, ALifeStartsTrainsHearsANoticeAndEnds) {
  drill::Life life = testing::made_life({.number = 2, .began = 10, .trained = 20, .first_step = 7});
  testing::end_with_notice(life, 6, 1);
  const std::vector<Bar> bars = bars_of(life);
  ASSERT_EQ(bars.size(), 4U);
  EXPECT_EQ(bars[0].kind, BarKind::kStarting);
  EXPECT_EQ(bars[0].title,
            "Starting: 1.9s, from 10s to 11.9s; the trainer was started after 600ms; restored step "
            "6 (checkpoint 6), 42.8 MiB fetched");
  EXPECT_EQ(bars[1].kind, BarKind::kTraining);
  EXPECT_EQ(bars[3].kind, BarKind::kSpare);
  EXPECT_DOUBLE_EQ(bars[3].to, life.ended);
  EXPECT_EQ(bars[2].kind, BarKind::kNotice);
  EXPECT_DOUBLE_EQ(bars[2].to, *life.left);
  EXPECT_EQ(bars[2].title,
            "Notice of 6s at 31.9s: heard after 45ms, asked after 60ms, committed after 1s");
}

TEST(LifeBars, ALifeThatNeverTrainedOnlyStarts) {
  drill::Life life;
  life.ended = 3;
  const std::vector<Bar> bars = bars_of(life);
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].kind, BarKind::kStarting);
  EXPECT_TRUE(bars_of({}).empty());
}

TEST(LifeBars, BarsStayWithinTheLifeWhateverItsTimesSay) {
  drill::Life life;
  life.began = 5;
  life.progress = 2;
  life.left = 100;
  life.ended = 9;
  life.injections.push_back({.trouble = drill::Trouble::kNotice, .at = 8, .notice_time = 1000});
  for (const Bar& bar : bars_of(life)) {
    EXPECT_GE(bar.from, 5);
    EXPECT_LE(bar.to, 9);
    EXPECT_LE(bar.from, bar.to);
  }
}

TEST(LifeBars, WhatWasNotHeardIsSaid) {
  drill::Injection injection{.trouble = drill::Trouble::kTooLate, .at = 4, .notice_time = 0.3};
  EXPECT_EQ(title_of(injection),
            "Notice of 300ms at 4s, too late: not heard, not asked, not committed");
  injection.notice_to_committed = 0;
  EXPECT_EQ(title_of(injection),
            "Notice of 300ms at 4s, too late: not heard, not asked, all was safe already");
}

TEST(LifeBars, TheStoryIsShort) {
  drill::Life life;
  EXPECT_EQ(short_story(life), "");
  testing::end_with_kill(life, drill::Trouble::kKill, 1);
  EXPECT_EQ(short_story(life), "lost 1 step");
  life = {};
  testing::end_with_notice(life, 6, 1.2);
  EXPECT_EQ(short_story(life), "saved in 1.2s");
  life.lost_steps = 3;
  EXPECT_EQ(short_story(life), "saved in 1.2s, lost 3 steps");
}

TEST(LifeBars, ATextStandsWhereItHasRoom) {
  const auto right = place_beside(0, 0.2, 13);
  ASSERT_TRUE(right);
  EXPECT_EQ(right->side, Side::kRight);
  EXPECT_FALSE(right->is_wide_only);
  const auto left = place_beside(0.8, 1, 13);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->side, Side::kLeft);
  const auto wide = place_beside(0, 0.75, 13);
  ASSERT_TRUE(wide);
  EXPECT_TRUE(wide->is_wide_only);
  EXPECT_FALSE(place_beside(0, 1, 4));
}

}  // namespace
}  // namespace outlast::report
