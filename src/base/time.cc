#include "base/time.h"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"

namespace outlast {
namespace {

// NOLINTNEXTLINE(misc-include-cleaner): clang-tidy 19 does not know that <chrono> has days
using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Takes exactly `count` digits off the front of `text`; -1 if they are not there.
int take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// The digits after the point, as nanoseconds; digits beyond the ninth are cut off.
bool take_fraction(std::string_view& text, Duration& fraction) {
  Duration unit{100'000'000};
  bool any = false;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
    fraction += (text.front() - '0') * unit;
    unit /= 10;
    any = true;
  }
  return any;
}

bool take_zone(std::string_view& text, minutes& offset) {
  if (take(text, "Zz")) return true;
  if (text.empty()) return false;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take(text, "+-")) return false;
  const int h = take_digits(text, 2);
  if (h < 0 || h > 23 || !take(text, ":")) return false;
  const int m = take_digits(text, 2);
  if (m < 0 || m > 59) return false;
  offset = sign * (hours(h) + minutes(m));
  return true;
}

bool parse(std::string_view text, WallTime& time) {
  const int y = take_digits(text, 4);
  if (y < 1678 || y > 2261 || !take(text, "-")) return false;
  const int m = take_digits(text, 2);
  if (m < 0 || !take(text, "-")) return false;
  const int d = take_digits(text, 2);
  const std::chrono::year_month_day date{std::chrono::year(y),
                                         std::chrono::month(static_cast<unsigned>(m)),
                                         std::chrono::day(static_cast<unsigned>(d))};
  if (d < 0 || !date.ok() || !take(text, "Tt ")) return false;
  const int hh = take_digits(text, 2);
  if (hh < 0 || hh > 23 || !take(text, ":")) return false;
  const int mm = take_digits(text, 2);
  if (mm < 0 || mm > 59 || !take(text, ":")) return false;
  const int ss = take_digits(text, 2);
  if (ss < 0 || ss > 60) return false;  // 60: a leap second, read as the second after
  Duration fraction{0};
  if (take(text, ".") && !take_fraction(text, fraction)) return false;
  minutes offset{0};
  if (!take_zone(text, offset) || !text.empty()) return false;
  const Duration day_start = std::chrono::sys_days(date).time_since_epoch();
  time = WallTime(day_start + hours(hh) + minutes(mm) + seconds(ss) + fraction - offset);
  return true;
}

}  // namespace

std::string format_rfc3339(WallTime time) {
  // In milliseconds before in days: the day that WallTime::min() lies in starts before it.
  const auto since_epoch = floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto day = floor<days>(since_epoch);
  const std::chrono::year_month_day date{std::chrono::sys_days(day)};
  const std::chrono::hh_mm_ss clock(since_epoch - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Result<WallTime> parse_rfc3339(std::string_view text) {
  WallTime time;
  if (parse(text, time)) return time;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("'{}' is not a time such as 2026-11-15T08:30:00Z", text.substr(0, 80)));
}

}  // namespace outlast
