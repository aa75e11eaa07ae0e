#include "report/finite.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "drill/report.h"

namespace outlast::report {
namespace {

constexpr double kLatest = 4e9;  // seconds; more than a century, and a Duration holds it

void make_finite(double& value) {
  value = std::isfinite(value) ? std::clamp(value, 0.0, kLatest) : 0;
}

void make_finite(std::optional<double>& value) {
  if (value && !std::isfinite(*value)) value.reset();
  if (value) make_finite(*value);
}

void make_finite(drill::Injection& injection) {
  make_finite(injection.at);
  make_finite(injection.notice_time);
  make_finite(injection.heard);
  make_finite(injection.asked);
  make_finite(injection.committed);
  make_finite(injection.notice_to_committed);
}

void make_finite(drill::Life& life) {
  make_finite(life.began);
  make_finite(life.training);
  make_finite(life.progress);
  make_finite(life.left);
  make_finite(life.ended);
  make_finite(life.lost_seconds);
  make_finite(life.recovery);
  double latest = std::max(life.began, life.ended);
  for (const auto& moment : {life.training, life.progress, life.left}) {
    latest = std::max(latest, moment.value_or(0));
  }
  for (drill::Injection& injection : life.injections) {
    make_finite(injection);
    latest = std::max(latest, injection.at);
  }
  for (drill::Save& save : life.saves) {
    make_finite(save.at);
    make_finite(save.seconds);
    make_finite(save.written);
    latest = std::max(latest, save.at);
  }
  life.ended = latest;
}

void make_finite(drill::Run& run) {
  make_finite(run.seconds);
  make_finite(run.training_seconds);
  for (drill::Life& life : run.lives) make_finite(life);
}

}  // namespace

drill::Report finite(drill::Report report) {
  make_finite(report.notice_time);
  make_finite(report.disturbed);
  if (report.undisturbed) make_finite(*report.undisturbed);
  return report;
}

}  // namespace outlast::report
