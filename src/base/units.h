#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

// Durations and sizes as people write them. Reading is strict: a unit is required, nothing may be
// left over, and what does not fit is refused rather than wrapped.
namespace outlast {

// "90s", "12h", "1h30m", "250ms", "1.5h", "2d". Units ms, s, m, h, d (and w), largest first, each
// at most once; only the last number may have a fraction, and nothing is finer than a
// millisecond. Zero is "0s". Never negative.
Result<Duration> parse_duration(std::string_view text);
// What people would write, whole milliseconds only: "1h30m", "1.5s", "250ms", "0s".
// parse_duration() reads it back to the same milliseconds. A negative one gets a "-", for logs.
std::string format_duration(Duration duration);
// Rounded for people, to two or three digits that matter: "1.2s", "4m12s", "6h5m", "3d2h".
std::string format_duration_short(Duration duration);

// "4GiB", "1.5 MiB", "500MB", "512B". KiB… are powers of 1024, kB/KB… powers of 1000.
Result<std::uint64_t> parse_bytes(std::string_view text);
// Exact, in the largest binary unit that divides it: "4GiB", "1000B". Read back by parse_bytes().
std::string format_bytes(std::uint64_t bytes);
// Rounded for people: "3.7 GiB", "999 B".
std::string format_bytes_short(std::uint64_t bytes);

}  // namespace outlast
