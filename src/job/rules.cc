#include "job/rules.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "base/yaml.h"
#include "job/spec.h"

namespace outlast::job {
namespace {

constexpr Duration kSpanMin = std::chrono::seconds(1);
constexpr Duration kSpanMax = std::chrono::hours(24 * 3650);
constexpr std::uint64_t kCountMax = 1'000'000'000'000;

Error not_a_rule(std::string_view text) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("{} is not understood", quote_for_message(text))};
}

}  // namespace

Result<Duration> parse_span(std::string_view text) {
  OUTLAST_TRY_ASSIGN(const Duration exact, parse_duration(text));
  const Duration span = std::chrono::duration_cast<std::chrono::milliseconds>(exact);
  if (span < kSpanMin || span > kSpanMax) {
    return Error(ErrorCode::kInvalidArgument, "it must be from 1s to 3650d");
  }
  return span;
}

Result<CheckpointEvery> parse_every(std::string_view text) {
  using Unit = CheckpointEvery::Unit;
  if (text == "auto") return CheckpointEvery{};
  const auto space = text.find(' ');
  if (space == std::string_view::npos) {
    OUTLAST_TRY_ASSIGN(const Duration time, parse_span(text));
    return CheckpointEvery{.unit = Unit::kTime, .time = time};
  }
  const std::string_view unit = text.substr(space + 1);
  CheckpointEvery every;
  if (unit == "steps" || unit == "step") {
    every.unit = Unit::kSteps;
  } else if (unit == "epochs" || unit == "epoch") {
    every.unit = Unit::kEpochs;
  } else {
    return not_a_rule(text);
  }
  const auto count = parse_number<std::uint64_t>(text.substr(0, space));
  if (!count) return not_a_rule(text);
  every.count = *count;
  if (every.count == 0 || every.count > kCountMax) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the count must be from 1 to {}", kCountMax));
  }
  return every;
}

std::string format_every(const CheckpointEvery& every) {
  using Unit = CheckpointEvery::Unit;
  switch (every.unit) {
    case Unit::kAuto:
      return "auto";
    case Unit::kTime:
      return format_duration(every.time);
    case Unit::kSteps:
      return fmt::format("{} step{}", every.count, every.count == 1 ? "" : "s");
    case Unit::kEpochs:
      return fmt::format("{} epoch{}", every.count, every.count == 1 ? "" : "s");
  }
  return "auto";
}

Result<OnFailed> parse_on_failed(std::string_view text) {
  constexpr std::string_view kKeepFor = "keep ";
  if (text == "shutdown") return OnFailed{};
  if (text == "keep") return OnFailed{.keep = true, .keep_for = {}};
  if (!text.starts_with(kKeepFor)) return not_a_rule(text);
  OUTLAST_TRY_ASSIGN(const Duration time, parse_span(text.substr(kKeepFor.size())));
  return OnFailed{.keep = true, .keep_for = time};
}

std::string format_on_failed(const OnFailed& rule) {
  if (!rule.keep) return "shutdown";
  return rule.keep_for ? "keep " + format_duration(*rule.keep_for) : "keep";
}

}  // namespace outlast::job
