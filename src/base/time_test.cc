#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace outlast {
namespace {

using std::chrono::milliseconds;

static_assert(!std::is_convertible_v<MonoTime, WallTime>);
static_assert(!std::is_constructible_v<WallTime, MonoTime>);
static_assert(!std::is_convertible_v<Duration, MonoTime>);

std::int64_t parsed_ns(std::string_view text) {
  return parse_rfc3339(text).value().time_since_epoch().count();
}

// Through the parser and the printer: what a text means, in UTC.
std::string in_utc(std::string_view text) {
  return format_rfc3339(parse_rfc3339(text).value());
}

TEST(Rfc3339, ReadsTheExamplesOfTheRfc) {
  EXPECT_EQ(in_utc("1985-04-12T23:20:50.52Z"), "1985-04-12T23:20:50.520Z");
  EXPECT_EQ(in_utc("1996-12-19T16:39:57-08:00"), "1996-12-20T00:39:57.000Z");
  EXPECT_EQ(in_utc("1937-01-01T12:00:27.87+00:20"), "1937-01-01T11:40:27.870Z");
  EXPECT_EQ(in_utc("1990-12-31T23:59:60Z"), "1991-01-01T00:00:00.000Z");
  EXPECT_EQ(in_utc("1990-12-31T15:59:60-08:00"), "1991-01-01T00:00:00.000Z");
}

TEST(Rfc3339, CountsFrom1970) {
  EXPECT_EQ(parsed_ns("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parsed_ns("1970-01-01T00:00:00.000000001Z"), 1);
  EXPECT_EQ(parsed_ns("1969-12-31T23:59:59.999999999Z"), -1);
  EXPECT_EQ(parsed_ns("2026-11-15T08:30:00Z"), 1'794'731'400'000'000'000);
}

TEST(Rfc3339, ReadsLowerCaseASpaceAndAnyNumberOfDigits) {
  EXPECT_EQ(in_utc("2026-11-15t08:30:00z"), "2026-11-15T08:30:00.000Z");
  EXPECT_EQ(in_utc("2026-11-15 08:30:00Z"), "2026-11-15T08:30:00.000Z");
  EXPECT_EQ(parsed_ns("1970-01-01T00:00:00.1234567899999Z"), 123'456'789);
}

TEST(Rfc3339, KnowsTheLengthOfMonths) {
  EXPECT_TRUE(parse_rfc3339("2024-02-29T00:00:00Z"));
  EXPECT_TRUE(parse_rfc3339("2000-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("2023-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("1900-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("2026-04-31T00:00:00Z"));
  EXPECT_EQ(in_utc("2024-02-28T23:30:00-01:00"), "2024-02-29T00:30:00.000Z");
}

TEST(Rfc3339, HoldsEveryTimeOfTheYears1678To2261) {
  EXPECT_EQ(in_utc("1678-01-01T00:00:00+23:59"), "1677-12-31T00:01:00.000Z");
  EXPECT_EQ(in_utc("1678-01-01T00:00:00Z"), "1678-01-01T00:00:00.000Z");
  EXPECT_EQ(in_utc("2261-12-31T23:59:59.999Z"), "2261-12-31T23:59:59.999Z");
  EXPECT_EQ(in_utc("2261-12-31T23:59:60-23:59"), "2262-01-01T23:59:00.000Z");
  EXPECT_FALSE(parse_rfc3339("1677-12-31T23:59:59Z"));
  EXPECT_FALSE(parse_rfc3339("2262-01-01T00:00:00Z"));
}

TEST(Rfc3339, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      "2026",
                                      "2026-11-15",
                                      "2026-11-15T08:30:00",
                                      "2026-11-15T08:30Z",
                                      "2026-11-15T08:30:00.Z",
                                      "2026-11-15T08:30:00Z ",
                                      " 2026-11-15T08:30:00Z",
                                      "2026-11-15T08:30:00ZZ",
                                      "2026-11-15T24:00:00Z",
                                      "2026-11-15T08:60:00Z",
                                      "2026-11-15T08:30:61Z",
                                      "2026-13-15T08:30:00Z",
                                      "2026-00-15T08:30:00Z",
                                      "2026-11-00T08:30:00Z",
                                      "2026-11-15T08:30:00+24:00",
                                      "2026-11-15T08:30:00+01:60",
                                      "2026-11-15T08:30:00+0100",
                                      "2026-11-15T08:30:00+1:00",
                                      "2026-11-15T08:30:00+",
                                      "26-11-15T08:30:00Z",
                                      "2026-1-15T08:30:00Z",
                                      "2026-11-15X08:30:00Z",
                                      "+2026-11-15T08:30:00Z",
                                      "2026-11--5T08:30:00Z",
                                      "0000-01-01T00:00:00Z"}) {
    const auto time = parse_rfc3339(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(Rfc3339, PrintsMilliseconds) {
  EXPECT_EQ(format_rfc3339(WallTime(Duration(0))), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_rfc3339(WallTime(Duration(1'999'999))), "1970-01-01T00:00:00.001Z");
  EXPECT_EQ(format_rfc3339(WallTime(Duration(-1))), "1969-12-31T23:59:59.999Z");
}

TEST(Rfc3339, PrintsTheFirstAndTheLastTimeThereIs) {
  EXPECT_EQ(format_rfc3339(WallTime::min()), "1677-09-21T00:12:43.145Z");
  EXPECT_EQ(format_rfc3339(WallTime::max()), "2262-04-11T23:47:16.854Z");
}

RC_GTEST_PROP(Rfc3339Property, ReadsWhatItPrinted, ()) {
  // 1678-01-01 to 2261-12-31, in milliseconds.
  const auto ms = *rc::gen::inRange<std::int64_t>(-9'214'560'000'000, 9'214'646'400'000);
  const WallTime time{Duration(milliseconds(ms))};
  RC_ASSERT(parse_rfc3339(format_rfc3339(time)).value() == time);
}

TEST(SaturatingAdd, StopsAtNever) {
  const MonoTime start{Duration(1000)};
  EXPECT_EQ(saturating_add(start, Duration(5)), MonoTime(Duration(1005)));
  EXPECT_EQ(saturating_add(start, Duration(-5)), MonoTime(Duration(995)));
  EXPECT_EQ(saturating_add(start, Duration::max()), kNever);
  EXPECT_EQ(saturating_add(start, kNever - start), kNever);
  EXPECT_EQ(saturating_add(kNever, Duration(1)), kNever);
}

TEST(SaturatingAdd, WorksBeforeTheClocksZero) {
  const MonoTime start{Duration(-1000)};
  EXPECT_EQ(saturating_add(start, Duration(5)), MonoTime(Duration(-995)));
  EXPECT_EQ(saturating_add(start, Duration::max()), kNever - Duration(1000));
}

}  // namespace
}  // namespace outlast
