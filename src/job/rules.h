#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "job/spec.h"

// The small languages inside a job file: when to save, and what to do after a failure. Reading and
// writing are inverse: parse(format(x)) == x.
namespace outlast::job {

// "auto", "30m", "500 steps", "1 epoch". A duration must be from 1s to 3650d.
Result<CheckpointEvery> parse_every(std::string_view text);
std::string format_every(const CheckpointEvery& every);

// "shutdown", "keep", "keep 30m".
Result<OnFailed> parse_on_failed(std::string_view text);
std::string format_on_failed(const OnFailed& rule);

// A duration somebody waits for or works within: from 1s to 3650d, in whole milliseconds.
Result<Duration> parse_span(std::string_view text);

}  // namespace outlast::job
