#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainers/learner.h"

namespace outlast::trainers {

// What was known at one step of a training. Of times there is nothing in it: two trainings that
// are equal have equal metrics.
struct MetricsPoint {
  std::uint64_t step = 0;
  double epoch = 0;
  std::optional<double> loss = {};  // of the steps since the point before
  std::optional<double> accuracy = {};
  std::optional<double> learning_rate = {};
  std::optional<double> test_loss = {};
  std::optional<double> test_accuracy = {};

  friend bool operator==(const MetricsPoint&, const MetricsPoint&) = default;
};

// Sums over the steps since the last point. Bytes that are saved as they are.
struct RunningSums {
  double loss = 0;  // times examples
  std::uint64_t examples = 0;
  std::uint64_t correct = 0;

  void add(const StepReport& report);
};

// The history of a training: a part of its state, so that it is whole wherever it ends. Confined
// to its owner.
class Metrics {
 public:
  // Of a line of text(), at most.
  static constexpr std::size_t kLineBytesMax = 256;

  void add(const MetricsPoint& point) { points_.push_back(point); }
  const std::vector<MetricsPoint>& points() const { return points_; }

  // One JSON object a line: what metrics.jsonl is.
  std::string text() const;
  // What text() gave. kCorrupt, with the line, for anything else.
  static Result<Metrics> parse(std::string_view text);

 private:
  std::vector<MetricsPoint> points_;
};

}  // namespace outlast::trainers
