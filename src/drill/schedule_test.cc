#include "drill/schedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "drill/report.h"

namespace outlast::drill {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string refusal(std::string_view text, Source source) {
  const auto schedule = parse_schedule(text, source);
  return schedule ? "" : schedule.error().to_string();
}

TEST(Schedule, SaysWhenAndWhat) {
  const auto schedule =
      parse_schedule("5s, 8s withdrawn,4s late ,6s  kill,1500ms mid-save", Source::kFile);
  ASSERT_TRUE(schedule) << schedule.error().to_string();
  const std::vector<Planned> expected = {
      {.after = seconds(5), .trouble = Trouble::kNotice},
      {.after = seconds(8), .trouble = Trouble::kWithdrawn},
      {.after = seconds(4), .trouble = Trouble::kTooLate},
      {.after = seconds(6), .trouble = Trouble::kKill},
      {.after = milliseconds(1500), .trouble = Trouble::kMidSave}};
  EXPECT_EQ(*schedule, expected);
}

TEST(Schedule, WithoutNoticesATimeAloneIsTheEnd) {
  const auto schedule = parse_schedule("5s", Source::kKill);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->front().trouble, Trouble::kKill);
}

TEST(Schedule, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal("5", Source::kFile),
            "'5' in a schedule: it is a time and perhaps what happens then, such as '5s' or '8s "
            "withdrawn'");
  EXPECT_EQ(refusal("", Source::kFile),
            "'' in a schedule: it is a time and perhaps what happens then, such as '5s' or '8s "
            "withdrawn'");
  EXPECT_EQ(refusal("5s,,6s", Source::kFile).substr(0, 2), "''");
  EXPECT_EQ(
      refusal("5s explode", Source::kFile),
      "'5s explode' in a schedule: what happens is notice, withdrawn, late, kill or mid-save");
  EXPECT_EQ(
      refusal("5s withdrawn", Source::kSignal),
      "'5s withdrawn' in a schedule: a notice by 'signal' cannot be taken back: file, gce, ec2 "
      "and azure can");
  EXPECT_EQ(refusal("5s notice", Source::kKill),
            "'5s notice' in a schedule: with 'kill' nobody is told anything: kill and mid-save are "
            "possible");
}

TEST(Schedule, EvenOnesKillOnceInTheMiddleOfASave) {
  const std::vector<Planned> kills = even_schedule(5, seconds(2), Source::kKill);
  ASSERT_EQ(kills.size(), 5U);
  EXPECT_EQ(kills[2].trouble, Trouble::kMidSave);
  EXPECT_EQ(kills[1].trouble, Trouble::kKill);
  EXPECT_EQ(even_schedule(1, seconds(2), Source::kKill).front().trouble, Trouble::kKill);
  for (const Planned& one : even_schedule(5, seconds(18), Source::kGce)) {
    EXPECT_EQ(one, (Planned{.after = seconds(2), .trouble = Trouble::kNotice}));
  }
  // Who looks every two seconds trains on for two, and whoever hears, until the end.
  EXPECT_EQ(even_schedule(5, seconds(36), Source::kEc2).front().after, seconds(2));
  EXPECT_EQ(even_schedule(5, seconds(18), Source::kEc2).front().after, seconds(1));
}

TEST(Schedule, ChanceIsTheSeedsAndHasTheMean) {
  Random one(7);
  Random other(7);
  const auto drawn = poisson_schedule(1000, seconds(20), Source::kSignal, one);
  EXPECT_EQ(drawn, poisson_schedule(1000, seconds(20), Source::kSignal, other));
  Duration sum = {};
  for (const Planned& planned : drawn) sum += planned.after;
  EXPECT_GT(sum / 1000, seconds(18));
  EXPECT_LT(sum / 1000, seconds(22));
}

TEST(Schedule, SourcesHaveNames) {
  for (const std::string_view name : {"gce", "ec2", "azure", "slurm", "signal", "file", "kill"}) {
    const auto source = parse_source(name);
    EXPECT_EQ(source ? to_string(*source) : "none", name);
  }
  EXPECT_FALSE(parse_source("cloud"));
}

}  // namespace
}  // namespace outlast::drill
