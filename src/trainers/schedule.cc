#include "trainers/schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"

namespace outlast::trainers {
namespace {

Error no_schedule(std::string_view text) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("'{}' is no schedule: it is constant, cosine, linear or step:EPOCHS:FACTOR "
                      "(step:7:0.1), and +warmup:STEPS may follow",
                      text)};
}

constexpr std::string_view kWarmup = "+warmup:";

}  // namespace

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  std::string_view shape = text;
  if (const std::size_t at = text.find(kWarmup); at != std::string_view::npos) {
    shape = text.substr(0, at);
    const auto steps = parse_number<std::uint64_t>(text.substr(at + kWarmup.size()));
    if (!steps) return no_schedule(text);
    schedule.warmup_steps = *steps;
  }
  if (shape == "constant") return schedule;
  if (shape == "cosine") {
    schedule.kind = Schedule::Kind::kCosine;
  } else if (shape == "linear") {
    schedule.kind = Schedule::Kind::kLinear;
  } else if (shape.starts_with("step:")) {
    const std::string_view numbers = shape.substr(5);
    const std::size_t colon = numbers.find(':');
    if (colon == std::string_view::npos) return no_schedule(text);
    const auto epochs = parse_number<std::uint64_t>(numbers.substr(0, colon));
    const auto factor = parse_decimal(numbers.substr(colon + 1));
    if (!epochs || *epochs == 0 || !factor || *factor <= 0) return no_schedule(text);
    schedule.kind = Schedule::Kind::kStep;
    schedule.step_epochs = *epochs;
    schedule.step_factor = *factor;
  } else {
    return no_schedule(text);
  }
  return schedule;
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  switch (schedule.kind) {
    case Schedule::Kind::kConstant:
      text = "constant";
      break;
    case Schedule::Kind::kStep:
      text = fmt::format("step:{}:{}", schedule.step_epochs, schedule.step_factor);
      break;
    case Schedule::Kind::kCosine:
      text = "cosine";
      break;
    case Schedule::Kind::kLinear:
      text = "linear";
      break;
  }
  if (schedule.warmup_steps > 0) text += fmt::format("{}{}", kWarmup, schedule.warmup_steps);
  return text;
}

double schedule_factor(const Schedule& schedule, const Moment& moment) {
  if (moment.step < schedule.warmup_steps) {
    return static_cast<double>(moment.step + 1) / static_cast<double>(schedule.warmup_steps + 1);
  }
  const std::uint64_t falling = std::max<std::uint64_t>(
      moment.steps > schedule.warmup_steps ? moment.steps - schedule.warmup_steps : 0, 1);
  const double done =
      static_cast<double>(moment.step - schedule.warmup_steps) / static_cast<double>(falling);
  switch (schedule.kind) {
    case Schedule::Kind::kConstant:
      return 1;
    case Schedule::Kind::kStep: {
      // By products, which are the same everywhere: std::pow() may differ in the last bit.
      double factor = 1;
      const std::uint64_t epoch = moment.step / std::max<std::uint64_t>(moment.steps_per_epoch, 1);
      for (std::uint64_t i = 0; i < epoch / schedule.step_epochs && factor > 0; ++i) {
        factor *= schedule.step_factor;
      }
      return factor;
    }
    case Schedule::Kind::kCosine:
      // Rounded, as the last bits of a cosine differ from one C library to the next.
      return std::round(0.5e9 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0)))) / 1e9;
    case Schedule::Kind::kLinear:
      return std::max(1 - done, 0.0);
  }
  return 1;
}

}  // namespace outlast::trainers
