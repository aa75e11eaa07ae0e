#include "drill/printed_steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "drill/shown.h"
#include "job/progress_reader.h"

namespace outlast::drill {
namespace {

constexpr std::size_t kLastLinesMax = 12;
constexpr std::size_t kLastLineLength = 300;

StepScale::Shape shape_of(const StepSample& sample) {
  StepScale::Shape shape = {.has_epoch = sample.epoch.has_value(),
                            .has_step = sample.step.has_value(),
                            .has_total = sample.total.has_value()};
  for (const auto& [name, value] : sample.metrics) shape.metrics.push_back(name);
  return shape;
}

// How much a line says: of two shapes that are as frequent, the richer one is the loop's.
std::size_t richness(const StepScale::Shape& shape) {
  return (shape.has_epoch ? 1U : 0U) + (shape.has_step ? 1U : 0U) + (shape.has_total ? 1U : 0U) +
         shape.metrics.size();
}

bool counts_anew(const std::vector<StepSample>& samples, const StepScale::Shape& shape) {
  std::optional<std::pair<std::uint64_t, double>> before;
  for (const StepSample& sample : samples) {
    if (shape_of(sample) != shape || !sample.step || !sample.epoch) continue;
    const std::pair<std::uint64_t, double> now = {*sample.step, *sample.epoch};
    if (before && now.first < before->first && now.second > before->second) return true;
    before = now;
  }
  return false;
}

std::optional<std::uint64_t> number_of(const StepSample& sample, const StepScale& scale) {
  if (!sample.step) {
    if (!sample.epoch || *sample.epoch < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*sample.epoch);
  }
  if (!scale.is_per_epoch) return sample.step;
  const double before = std::floor(sample.epoch.value_or(0));
  return static_cast<std::uint64_t>(std::max(before, 0.0)) * sample.total.value_or(0) +
         *sample.step;
}

}  // namespace

void StepReader::feed(std::string_view piece, double at) {
  while (!piece.empty()) {
    const std::size_t end = piece.find_first_of("\r\n");
    const std::string_view part = piece.substr(0, end);
    const std::size_t room = job::kProgressLineMax - std::min(line_.size(), job::kProgressLineMax);
    line_ += part.substr(0, room);
    if (end == std::string_view::npos) return;
    end_line(at);
    piece.remove_prefix(end + 1);
  }
}

void StepReader::end_line(double at) {
  const std::string line = std::exchange(line_, {});
  if (ascii_trimmed(line).empty()) return;
  last_lines_.push_back(shown(std::string_view(line).substr(0, kLastLineLength)));
  if (last_lines_.size() > kLastLinesMax) last_lines_.pop_front();
  // A reader of its own for each line: what an earlier one said is no part of this one.
  job::ProgressReader reader(regex_);
  reader.feed(line + "\n");
  if (reader.updates() == 0) return;
  const job::Progress& said = reader.latest();
  StepSample sample = {.at = at,
                       .epoch = said.epoch,
                       .step = said.step,
                       .total = said.total,
                       .metrics = said.metrics};
  if (samples_.size() >= kSamplesMax) samples_.pop_back();
  samples_.push_back(std::move(sample));
}

StepScale find_scale(std::span<const std::vector<StepSample>* const> lives) {
  std::map<StepScale::Shape, std::size_t> counts;
  for (const std::vector<StepSample>* const life : lives) {
    for (const StepSample& sample : *life) {
      if (sample.step || sample.epoch) ++counts[shape_of(sample)];
    }
  }
  StepScale scale;
  if (counts.empty()) return scale;
  const auto weight = [](const auto& entry) {
    return std::tuple(entry.first.has_step, entry.second, richness(entry.first));
  };
  scale.shape = std::ranges::max_element(counts, {}, weight)->first;
  scale.is_per_epoch = std::ranges::any_of(
      lives, [&](const std::vector<StepSample>* life) { return counts_anew(*life, scale.shape); });
  std::optional<std::uint64_t> least;
  for (const std::vector<StepSample>* const life : lives) {
    const std::vector<NumberedSample> steps = on_scale(*life, scale);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      if (steps[i].step <= steps[i - 1].step) continue;
      const std::uint64_t distance = steps[i].step - steps[i - 1].step;
      least = std::min(least.value_or(distance), distance);
    }
  }
  scale.distance = least.value_or(1);
  return scale;
}

std::vector<NumberedSample> on_scale(const std::vector<StepSample>& samples,
                                     const StepScale& scale) {
  std::vector<NumberedSample> steps;
  for (const StepSample& sample : samples) {
    if (shape_of(sample) != scale.shape) continue;
    if (const auto step = number_of(sample, scale)) {
      steps.push_back({.step = *step, .sample = &sample});
    }
  }
  return steps;
}

}  // namespace outlast::drill
