#include "report/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/units.h"
#include "drill/report.h"

namespace outlast::report {
namespace {

// Far beyond every drill, and what a Duration holds with ease.
constexpr double kSecondsMax = 4e9;

Duration to_duration(double seconds) {
  if (!std::isfinite(seconds)) return Duration::zero();
  const double bounded = std::clamp(seconds, -kSecondsMax, kSecondsMax);
  return std::chrono::milliseconds(std::llround(bounded * 1000));
}

}  // namespace

std::string seconds_text(double seconds) {
  return format_duration_short(to_duration(seconds));
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? seconds_text(*seconds) : std::string(kUnknown);
}

std::string exact_seconds_text(double seconds) {
  return format_duration(to_duration(seconds));
}

std::string count_text(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string state_text(std::uint64_t checkpoint, const std::optional<std::uint64_t>& step) {
  if (!step) return fmt::format("checkpoint {}", checkpoint);
  return fmt::format("step {} (checkpoint {})", *step, checkpoint);
}

std::string trouble_text(const drill::Injection& injection) {
  switch (injection.trouble) {
    case drill::Trouble::kNone:
      return std::string(kNothing);
    case drill::Trouble::kNotice:
      return "notice, " + seconds_text(injection.notice_time);
    case drill::Trouble::kWithdrawn:
      return "notice, withdrawn";
    case drill::Trouble::kTooLate:
      return "notice, too late";
    case drill::Trouble::kKill:
      return "killed without a word";
    case drill::Trouble::kMidSave:
      return "killed during a save";
  }
  return std::string(kUnknown);
}

bool is_preemption(drill::Trouble trouble) {
  return trouble != drill::Trouble::kNone && trouble != drill::Trouble::kWithdrawn;
}

bool is_said(drill::Trouble trouble) {
  return trouble == drill::Trouble::kNotice || trouble == drill::Trouble::kWithdrawn ||
         trouble == drill::Trouble::kTooLate;
}

std::string lost_text(const std::optional<std::uint64_t>& steps,
                      const std::optional<double>& seconds) {
  if (!steps && !seconds) return std::string(kUnknown);
  if (steps.value_or(0) == 0 && seconds.value_or(0) == 0) return std::string(kNothing);
  if (steps && seconds) return count_text(*steps, "step") + ", " + seconds_text(*seconds);
  return steps ? count_text(*steps, "step") : seconds_text(*seconds);
}

}  // namespace outlast::report
