#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "job/progress_reader.h"

// The pieces that lines about progress are made of. Part of the reader; not for use elsewhere.
namespace outlast::job {

// A number off the front of `text`, as trainers print them: 12, 1,000 is 1, -0.5, 5e-05, nan, inf.
// Nothing if none stands there.
std::optional<double> take_progress_number(std::string_view& text);

// `value` as a step; nothing unless it is a whole number that a double holds exactly.
std::optional<std::uint64_t> as_step(double value);

// Sets what `name` says: step, total, epoch, epochs or rate, else a metric of that name in lower
// case. False if it is not taken: a step that is none, a name that is too long or one too many.
bool set_progress(std::string_view name, double value, Progress& progress);

}  // namespace outlast::job
