#include "cloud/http_date.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/time.h"

namespace outlast::cloud {
namespace {

TEST(HttpDate, ReadsAndWritesTheOneForm) {
  const WallTime time = parse_rfc3339("1994-11-06T08:49:37Z").value();
  EXPECT_EQ(format_http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").value(), time);
  EXPECT_EQ(format_compact_time(time), "19941106T084937Z");
  EXPECT_EQ(format_compact_day(time), "19941106");
}

TEST(HttpDate, RefusesEverythingElse) {
  for (const char* bad : {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                          "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
                          "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(parse_http_date(bad)) << bad;
  }
}

TEST(RetryAfter, IsReadAsSecondsOrAsAMoment) {
  EXPECT_EQ(retry_after({{"retry-after", "12"}}), std::chrono::seconds(12));
  EXPECT_EQ(retry_after({{"Retry-After", "999999"}}), std::chrono::hours(1));
  EXPECT_EQ(retry_after({{"Retry-After", "Sun, 06 Nov 1994 08:49:41 GMT"},
                         {"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}}),
            std::chrono::seconds(4));
  // A moment without the server's own time says nothing.
  for (const char* bad : {"", "-1", "soon", "Fri, 02 Jan 2026 03:04:05 GMT", "99999999999999"}) {
    EXPECT_FALSE(retry_after({{"Retry-After", bad}})) << bad;
  }
  EXPECT_FALSE(retry_after({}));
}

}  // namespace
}  // namespace outlast::cloud
