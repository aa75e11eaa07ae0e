#include "base/units.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"

namespace outlast {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

// Nanoseconds, largest first: the order in which they may be written.
constexpr std::array<Unit, 6> kTimeUnits = {{{"w", 604'800'000'000'000},
                                             {"d", 86'400'000'000'000},
                                             {"h", 3'600'000'000'000},
                                             {"m", 60'000'000'000},
                                             {"s", 1'000'000'000},
                                             {"ms", 1'000'000}}};

constexpr std::array<Unit, 12> kByteUnits = {{{"B", 1},
                                              {"KiB", 1ULL << 10},
                                              {"MiB", 1ULL << 20},
                                              {"GiB", 1ULL << 30},
                                              {"TiB", 1ULL << 40},
                                              {"PiB", 1ULL << 50},
                                              {"kB", 1'000},
                                              {"KB", 1'000},
                                              {"MB", 1'000'000},
                                              {"GB", 1'000'000'000},
                                              {"TB", 1'000'000'000'000},
                                              {"PB", 1'000'000'000'000'000}}};

constexpr std::array<std::string_view, 6> kBinaryNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

// A decimal number off the front of `text`: whole part and fraction, told apart because only the
// whole part is exact.
struct Number {
  std::uint64_t whole = 0;
  double fraction = 0;
  bool has_fraction = false;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool take_number(std::string_view& text, Number& number) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (text.empty() || !is_digit(text.front())) return false;
  const auto [rest, failure] = std::from_chars(begin, end, number.whole);
  if (failure != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - begin));
  if (text.empty() || text.front() != '.') return true;
  text.remove_prefix(1);
  double scale = 0.1;
  if (text.empty() || !is_digit(text.front())) return false;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), scale /= 10) {
    number.fraction += (text.front() - '0') * scale;
  }
  number.has_fraction = true;
  return true;
}

// number × unit added to `sum`; false when that is more than `max`.
bool add_scaled(const Number& number, std::uint64_t unit, std::uint64_t max, std::uint64_t& sum) {
  if (number.whole > (max - sum) / unit) return false;
  sum += number.whole * unit;
  const auto part =
      static_cast<std::uint64_t>(std::llround(number.fraction * static_cast<double>(unit)));
  if (part > max - sum) return false;
  sum += part;
  return true;
}

Error bad_duration(std::string_view text) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("'{}' is not a duration such as 90s, 30m, 12h or 1h30m", text.substr(0, 80))};
}

Error bad_bytes(std::string_view text) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("'{}' is not a size such as 512MiB, 4GiB or 100GB", text.substr(0, 80))};
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<Duration::rep>::max());
  std::string_view rest = text;
  std::uint64_t sum = 0;
  std::size_t first_allowed = 0;  // units must come largest first
  bool fraction_seen = false;
  do {
    Number number;
    if (fraction_seen || !take_number(rest, number)) return bad_duration(text);
    fraction_seen = number.has_fraction;
    std::size_t letters = 0;
    while (letters < rest.size() && !is_digit(rest[letters])) ++letters;
    const std::string_view name = rest.substr(0, letters);
    std::size_t unit = first_allowed;
    while (unit < kTimeUnits.size() && kTimeUnits[unit].name != name) ++unit;
    if (unit == kTimeUnits.size()) return bad_duration(text);
    if (!add_scaled(number, kTimeUnits[unit].size, kMax, sum)) return bad_duration(text);
    first_allowed = unit + 1;
    rest.remove_prefix(letters);
  } while (!rest.empty());
  // Finer than format_duration() shows would be lost when it is written down.
  if (sum % 1'000'000 != 0) return bad_duration(text);
  return Duration(static_cast<Duration::rep>(sum));
}

std::string format_duration(Duration duration) {
  const std::int64_t milliseconds = duration.count() / 1'000'000;
  if (milliseconds == 0) return "0s";
  std::string text = milliseconds < 0 ? "-" : "";
  auto left = static_cast<std::uint64_t>(milliseconds < 0 ? -milliseconds : milliseconds);
  for (const Unit& unit : kTimeUnits) {
    if (unit.name == "w") continue;  // "336h" and "14d" are clear; "2w" is rarely what was written
    const std::uint64_t size = unit.size / 1'000'000;
    if (left < size) continue;
    text += std::to_string(left / size);
    left %= size;
    if (unit.name == "s" && left != 0) {  // "1.5s" rather than "1s500ms"
      text += fmt::format(".{:03}", left);
      text.erase(text.find_last_not_of('0') + 1);
      left = 0;
    }
    text += unit.name;
  }
  return text;
}

std::string format_duration_short(Duration duration) {
  using std::chrono::days;
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  if (duration < Duration::zero()) {
    // The smallest number has no counterpart above zero.
    return "-" + format_duration_short(duration == Duration::min() ? Duration::max() : -duration);
  }
  Duration grain = days(1);
  if (duration < days(10)) grain = hours(1);
  if (duration < hours(10)) grain = minutes(1);
  if (duration < minutes(10)) grain = seconds(1);
  if (duration < seconds(10)) grain = milliseconds(100);
  if (duration < seconds(1)) grain = milliseconds(1);
  const Duration past = duration % grain;
  const bool up = past >= grain - past && duration <= Duration::max() - grain;
  return format_duration(duration - past + (up ? grain : Duration::zero()));
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::string_view rest = text;
  Number number;
  if (!take_number(rest, number)) return bad_bytes(text);
  if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  for (const Unit& unit : kByteUnits) {
    if (unit.name != rest) continue;
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t bytes = 0;
    if (!add_scaled(number, unit.size, kMax, bytes)) return bad_bytes(text);
    return bytes;
  }
  return bad_bytes(text);
}

std::string format_bytes(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kBinaryNames.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, kBinaryNames.at(unit));
}

std::string format_bytes_short(std::uint64_t bytes) {
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kBinaryNames.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.1f} {}", value, kBinaryNames.at(unit));
}

}  // namespace outlast
