#include "report/axis.h"

#include <array>
#include <cmath>
#include <vector>

#include "report/wording.h"

namespace outlast::report {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kDay = 86400;

constexpr std::array kTickSteps = {
    0.001, 0.002,     0.005,       0.01,        0.02,         0.05,         0.1,
    0.2,   0.5,       1.0,         2.0,         5.0,          10.0,         15.0,
    30.0,  kMinute,   2 * kMinute, 5 * kMinute, 10 * kMinute, 15 * kMinute, 30 * kMinute,
    kHour, 2 * kHour, 3 * kHour,   6 * kHour,   12 * kHour,   kDay};

// Days and more: 1, 2, 5, 10, 20, 50, …
double next_of_days(double days) {
  const double power = std::pow(10, std::floor(std::log10(days) + 1e-9));
  const double digit = days / power;
  if (digit < 1.5) return 2 * power;
  return digit < 3 ? 5 * power : 10 * power;
}

double step_for(double seconds, int ticks_max) {
  const double least = seconds / (ticks_max - 1);
  for (const double step : kTickSteps) {
    if (step >= least) return step;
  }
  double days = 1;
  while (days * kDay < least) days = next_of_days(days);
  return days * kDay;
}

}  // namespace

std::vector<Tick> axis_ticks(double seconds, int ticks_max) {
  std::vector<Tick> ticks = {{.at = 0, .text = "0"}};
  if (!std::isfinite(seconds) || seconds <= 0) return ticks;
  const double step = step_for(seconds, ticks_max);
  // A product each, not a sum: a sum drifts away from what its text says.
  for (int i = 1; i < ticks_max && i * step <= seconds; ++i) {
    const double at = i * step;
    ticks.push_back({.at = at, .text = exact_seconds_text(at), .is_major = i % 2 == 0});
  }
  return ticks;
}

}  // namespace outlast::report
