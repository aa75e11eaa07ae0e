#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

// Three kinds of time, none of which converts into another. Values only: nothing here reads a clock
// (that is sys::Clock).
namespace outlast {

using Duration = std::chrono::nanoseconds;

namespace detail {
struct MonoTimeline {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
};
struct WallTimeline : MonoTimeline {};
}  // namespace detail

// A moment on this machine's steady clock: for intervals and deadlines. Means nothing elsewhere.
using MonoTime = std::chrono::time_point<detail::MonoTimeline, Duration>;
// A moment in UTC since 1970: for people and for the wire. Jumps; never measure with it.
using WallTime = std::chrono::time_point<detail::WallTimeline, Duration>;

inline constexpr MonoTime kNever = MonoTime::max();

// `start + length`, but kNever instead of an overflow.
constexpr MonoTime saturating_add(MonoTime start, Duration length) {
  return length > Duration::zero() && start > kNever - length ? kNever : start + length;
}

// "2026-11-15T08:30:00.123Z": RFC 3339, UTC, milliseconds.
std::string format_rfc3339(WallTime time);
// Any RFC 3339 time with a zone ("Z" or an offset); fractions are read to the nanosecond. Refuses
// impossible dates, and years outside 1678–2261, which 64 bits of nanoseconds cannot hold.
Result<WallTime> parse_rfc3339(std::string_view text);

}  // namespace outlast
