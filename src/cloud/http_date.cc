#include "cloud/http_date.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/http.h"

namespace outlast::cloud {
namespace {

// NOLINTNEXTLINE(misc-include-cleaner): clang-tidy 19 does not know that <chrono> has days
using std::chrono::days;

constexpr std::array<std::string_view, 7> kWeekdays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

constexpr Duration kRetryAfterMax = std::chrono::hours(1);

struct Calendar {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::seconds> clock;
  unsigned weekday = 0;
};

Calendar calendar(WallTime time) {
  const auto since_epoch = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const auto day = std::chrono::floor<days>(since_epoch);
  return {.date = std::chrono::sys_days(day),
          .clock = std::chrono::hh_mm_ss(since_epoch - day),
          .weekday = std::chrono::weekday(std::chrono::sys_days(day)).c_encoding()};
}

}  // namespace

std::string format_http_date(WallTime time) {
  const Calendar at = calendar(time);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kWeekdays[at.weekday],
                     static_cast<unsigned>(at.date.day()),
                     kMonths[static_cast<unsigned>(at.date.month()) - 1],
                     static_cast<int>(at.date.year()), at.clock.hours().count(),
                     at.clock.minutes().count(), at.clock.seconds().count());
}

Result<WallTime> parse_http_date(std::string_view text) {
  // "Sun, 06 Nov 1994 08:49:37 GMT" as "1994-11-06T08:49:37Z"; writing it back is the check.
  if (text.size() == 29) {
    const auto* const month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
    if (month != kMonths.end()) {
      const auto time = parse_rfc3339(fmt::format("{}-{:02}-{}T{}Z", text.substr(12, 4),
                                                  std::distance(kMonths.begin(), month) + 1,
                                                  text.substr(5, 2), text.substr(17, 8)));
      if (time && format_http_date(*time) == text) return *time;
    }
  }
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' is not a time such as Sun, 06 Nov 1994 08:49:37 GMT", text.substr(0, 80)));
}

std::string format_compact_time(WallTime time) {
  const Calendar at = calendar(time);
  return fmt::format("{}T{:02}{:02}{:02}Z", format_compact_day(time), at.clock.hours().count(),
                     at.clock.minutes().count(), at.clock.seconds().count());
}

std::string format_compact_day(WallTime time) {
  const Calendar at = calendar(time);
  return fmt::format("{:04}{:02}{:02}", static_cast<int>(at.date.year()),
                     static_cast<unsigned>(at.date.month()), static_cast<unsigned>(at.date.day()));
}

std::optional<Duration> retry_after(const sys::HttpHeaders& headers) {
  const auto text = sys::find_header(headers, "Retry-After");
  if (!text) return std::nullopt;
  if (const auto seconds = parse_number<unsigned>(*text)) {
    return std::min<Duration>(std::chrono::seconds(*seconds), kRetryAfterMax);
  }
  const auto until = parse_http_date(*text);
  const auto from = parse_http_date(sys::find_header(headers, "Date").value_or(""));
  if (!until || !from || *until < *from) return std::nullopt;
  return std::min<Duration>(*until - *from, kRetryAfterMax);
}

}  // namespace outlast::cloud
