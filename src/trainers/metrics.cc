#include "trainers/metrics.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "trainers/learner.h"

namespace outlast::trainers {
namespace {

using Member = std::optional<double> MetricsPoint::*;
constexpr std::array<std::pair<std::string_view, Member>, 5> kMembers = {{
    {"loss", &MetricsPoint::loss},
    {"accuracy", &MetricsPoint::accuracy},
    {"learning_rate", &MetricsPoint::learning_rate},
    {"test_loss", &MetricsPoint::test_loss},
    {"test_accuracy", &MetricsPoint::test_accuracy},
}};

Result<MetricsPoint> parse_point(std::string_view line) {
  OUTLAST_TRY_ASSIGN(const Json json, parse_json(line));
  MetricsPoint point;
  OUTLAST_TRY_ASSIGN(point.step, json_uint(json, "step"));
  OUTLAST_TRY_ASSIGN(point.epoch, json_number(json, "epoch"));
  for (const auto& [name, member] : kMembers) {
    if (!json.contains(name)) continue;
    OUTLAST_TRY_ASSIGN(point.*member, json_number(json, name));
  }
  return point;
}

}  // namespace

void RunningSums::add(const StepReport& report) {
  loss += report.loss * static_cast<double>(report.examples);
  examples += report.examples;
  correct += report.correct;
}

std::string Metrics::text() const {
  std::string text;
  for (const MetricsPoint& point : points_) {
    Json json = {{"step", point.step}, {"epoch", point.epoch}};
    for (const auto& [name, member] : kMembers) {
      if (const std::optional<double>& value = point.*member) json[std::string(name)] = *value;
    }
    text += canonical_json(json) + "\n";
  }
  return text;
}

Result<Metrics> Metrics::parse(std::string_view text) {
  Metrics metrics;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    Result<MetricsPoint> point = parse_point(text.substr(0, end));
    if (!point) return point.error().while_doing(fmt::format("line {} of the metrics", number));
    metrics.add(*point);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return metrics;
}

}  // namespace outlast::trainers
