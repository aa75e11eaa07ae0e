#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace outlast::trainers {

// How the learning rate changes. A value.
struct Schedule {
  enum class Kind { kConstant, kStep, kCosine, kLinear };

  Kind kind = Kind::kConstant;
  std::uint64_t step_epochs = 0;  // kStep: multiplied by step_factor after every so many epochs
  double step_factor = 1;
  std::uint64_t warmup_steps = 0;  // rises linearly from 0 during these

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// "constant", "step:7:0.1" (epochs and factor), "cosine", "linear" (both down to 0 at the last
// step); each may end in "+warmup:100" (steps). kInvalidArgument for anything else.
Result<Schedule> parse_schedule(std::string_view text);
std::string to_string(const Schedule& schedule);

// Where in a training one is.
struct Moment {
  std::uint64_t step = 0;  // counted from 0
  std::uint64_t steps = 0;
  std::uint64_t steps_per_epoch = 1;
};
// What the learning rate is multiplied by in that step: a pure function.
double schedule_factor(const Schedule& schedule, const Moment& moment);

}  // namespace outlast::trainers
