#include "base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace outlast {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint64_t>::max();

TEST(ParseDuration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("90s").value(), std::chrono::seconds(90));
  EXPECT_EQ(parse_duration("12h").value(), hours(12));
  EXPECT_EQ(parse_duration("1h30m").value(), minutes(90));
  EXPECT_EQ(parse_duration("250ms").value(), std::chrono::milliseconds(250));
  EXPECT_EQ(parse_duration("1.5h").value(), minutes(90));
  EXPECT_EQ(parse_duration("2d").value(), days(2));
  EXPECT_EQ(parse_duration("1w2d3h4m5s6ms").value(),
            days(9) + hours(3) + minutes(4) + std::chrono::milliseconds(5006));
  EXPECT_EQ(parse_duration("0s").value(), Duration(0));
  EXPECT_EQ(parse_duration("1m0.25s").value(), std::chrono::milliseconds(60'250));
  EXPECT_EQ(parse_duration("0.001s").value(), std::chrono::milliseconds(1));
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const std::string_view text :
       {"",     "0",      "10",     "s",     "h",     "-1h",     "+1h",     "1 h",
        "1h ",  " 1h",    "1h 30m", "30m1h", "1h1h",  "1.5h30m", "1.h",     ".5h",
        "1,5h", "1e3s",   "1H",     "1hour", "1us",   "1sec",    "0x10s",   "h1",
        "1h30", "1h30mx", "infs",   "nans",  "1..5s", "0.5ms",   "60.0004s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(parse_duration("soon").error().to_string(),
            "'soon' is not a duration such as 90s, 30m, 12h or 1h30m");
}

TEST(ParseDuration, RefusesWhatDoesNotFit) {
  EXPECT_TRUE(parse_duration("15250w"));
  EXPECT_FALSE(parse_duration("15251w"));
  EXPECT_TRUE(parse_duration("9223372036s"));
  EXPECT_FALSE(parse_duration("9223372037s"));
  EXPECT_FALSE(parse_duration("9223372036.9s"));
  EXPECT_FALSE(parse_duration("15250w9d"));
  EXPECT_FALSE(parse_duration("99999999999999999999999s"));
}

TEST(FormatDuration, IsWhatPeopleWouldWrite) {
  EXPECT_EQ(format_duration(Duration(0)), "0s");
  EXPECT_EQ(format_duration(minutes(90)), "1h30m");
  EXPECT_EQ(format_duration(days(14)), "14d");
  EXPECT_EQ(format_duration(std::chrono::milliseconds(1500)), "1.5s");
  EXPECT_EQ(format_duration(std::chrono::milliseconds(61'050)), "1m1.05s");
  EXPECT_EQ(format_duration(std::chrono::milliseconds(3'600'007)), "1h7ms");
  EXPECT_EQ(format_duration(std::chrono::milliseconds(250)), "250ms");
  EXPECT_EQ(format_duration(std::chrono::seconds(100)), "1m40s");
  EXPECT_EQ(format_duration(-std::chrono::milliseconds(1500)), "-1.5s");
  EXPECT_EQ(format_duration(nanoseconds(999'999)), "0s");
  EXPECT_EQ(format_duration(Duration::max()), "106751d23h47m16.854s");
  EXPECT_EQ(format_duration(Duration::min()), "-106751d23h47m16.854s");
}

RC_GTEST_PROP(DurationProperty, ReadsWhatItPrinted, ()) {
  const Duration duration =
      std::chrono::milliseconds(*rc::gen::inRange<std::int64_t>(0, 9'223'372'036'854));
  RC_ASSERT(parse_duration(format_duration(duration)).value() == duration);
}

TEST(ParseBytes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("512B").value(), 512U);
  EXPECT_EQ(parse_bytes("4GiB").value(), 4ULL << 30);
  EXPECT_EQ(parse_bytes("1.5 MiB").value(), 3U << 19);
  EXPECT_EQ(parse_bytes("500MB").value(), 500'000'000U);
  EXPECT_EQ(parse_bytes("1kB").value(), 1000U);
  EXPECT_EQ(parse_bytes("1KB").value(), 1000U);
  EXPECT_EQ(parse_bytes("1KiB").value(), 1024U);
  EXPECT_EQ(parse_bytes("0B").value(), 0U);
  EXPECT_EQ(parse_bytes("2PiB").value(), 2ULL << 50);
  EXPECT_EQ(parse_bytes("3TB").value(), 3'000'000'000'000U);
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const std::string_view text :
       {"", "0", "10", "B", "GiB", "-1B", "1 ", "1  B", " 1B", "1B ", "1gib", "1Gib", "1G", "1K",
        "4GiBs", "1.B", ".5GiB", "1e3B", "1GiB1MiB"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
  EXPECT_EQ(parse_bytes("lots").error().to_string(),
            "'lots' is not a size such as 512MiB, 4GiB or 100GB");
}

TEST(FormatDurationShort, RoundsForPeople) {
  using std::chrono::milliseconds;
  EXPECT_EQ(format_duration_short({}), "0s");
  EXPECT_EQ(format_duration_short(nanoseconds(1)), "0s");
  EXPECT_EQ(format_duration_short(milliseconds(250)), "250ms");
  EXPECT_EQ(format_duration_short(milliseconds(1'249)), "1.2s");
  EXPECT_EQ(format_duration_short(milliseconds(9'990)), "10s");
  EXPECT_EQ(format_duration_short(milliseconds(252'499)), "4m12s");
  EXPECT_EQ(format_duration_short(minutes(365) + std::chrono::seconds(29)), "6h5m");
  EXPECT_EQ(format_duration_short(hours(74) + minutes(10)), "3d2h");
  EXPECT_EQ(format_duration_short(days(30) + hours(11)), "30d");
  EXPECT_EQ(format_duration_short(-milliseconds(1'500)), "-1.5s");
  EXPECT_EQ(format_duration_short(Duration::max()), "106751d");
  EXPECT_EQ(format_duration_short(Duration::min()), "-106751d");
}

TEST(ParseBytes, ReadsUpToTheLastNumberOf64Bits) {
  EXPECT_EQ(parse_bytes("18446744073709551615B").value(), kMostBytes);
  EXPECT_FALSE(parse_bytes("18446744073709551616B"));
  EXPECT_EQ(parse_bytes("16383PiB").value(), 16383ULL << 50);
  EXPECT_FALSE(parse_bytes("16384PiB"));
  EXPECT_EQ(parse_bytes("18446744073709551.5kB").value(), 18'446'744'073'709'551'500U);
  EXPECT_FALSE(parse_bytes("18446744073709551.7kB"));
}

TEST(FormatBytes, UsesTheLargestUnitThatDivides) {
  EXPECT_EQ(format_bytes(0), "0B");
  EXPECT_EQ(format_bytes(1000), "1000B");
  EXPECT_EQ(format_bytes(1024), "1KiB");
  EXPECT_EQ(format_bytes(1536), "1536B");
  EXPECT_EQ(format_bytes(4ULL << 30), "4GiB");
  EXPECT_EQ(format_bytes(1ULL << 63), "8192PiB");
}

RC_GTEST_PROP(BytesProperty, ReadsWhatItPrinted, (std::uint64_t value)) {
  const unsigned shift = *rc::gen::inRange(0U, 64U);  // so that every unit is tried
  const std::uint64_t bytes = value << shift;
  RC_ASSERT(parse_bytes(format_bytes(bytes)).value() == bytes);
}

TEST(FormatBytesShort, RoundsForPeople) {
  EXPECT_EQ(format_bytes_short(0), "0 B");
  EXPECT_EQ(format_bytes_short(999), "999 B");
  EXPECT_EQ(format_bytes_short(1023), "1023 B");
  EXPECT_EQ(format_bytes_short(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes_short(1'048'575), "1.0 MiB");
  EXPECT_EQ(format_bytes_short(3'972'844'748), "3.7 GiB");
  EXPECT_EQ(format_bytes_short(kMostBytes), "16384.0 PiB");
}

}  // namespace
}  // namespace outlast
