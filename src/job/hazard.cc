#include "job/hazard.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ratio>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "job/log_entry.h"

namespace outlast::job {
namespace {

constexpr std::uint64_t kHazardFormat = 1;
// What every reader of JSON keeps exactly; as milliseconds, 285,000 years.
constexpr std::uint64_t kTallyMax = kEntryNumberMax;
constexpr double kHourMilliseconds = 3'600'000;
constexpr double kPriorPreemptions = 1;
constexpr Duration kMeanTimeMin = std::chrono::seconds(1);
constexpr Duration kMeanTimeMax = std::chrono::hours(24 * 3650);

std::uint64_t tally_sum(std::uint64_t a, std::uint64_t b) {
  return a >= kTallyMax || b >= kTallyMax - a ? kTallyMax : a + b;
}

Duration age_end(std::size_t i) {
  return i + 1 < HazardModel::kAges.size() ? HazardModel::kAges.at(i + 1) : Duration::max();
}

// The class that a machine of this age is in.
std::size_t class_of(Duration age) {
  std::size_t i = 0;
  while (age >= age_end(i) && i + 1 < HazardModel::kAges.size()) ++i;
  return i;
}

// The class in which a machine that ends at this age has spent its last moment.
std::size_t class_of_end(Duration age) {
  std::size_t i = 0;
  while (age > age_end(i)) ++i;
  return i;
}

Result<std::uint64_t> tally_at(const Json& object, std::string_view key) {
  OUTLAST_TRY_ASSIGN(const std::uint64_t value, json_uint(object, key));
  if (value > kTallyMax) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is above {}", key, kTallyMax));
  }
  return value;
}

std::uint64_t age_hours(std::size_t i) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::hours>(HazardModel::kAges.at(i)).count());
}

}  // namespace

void HazardModel::observe(Duration age_from, Duration age_to, bool preempted) {
  const Duration from = std::max(age_from, Duration::zero());
  const Duration to = std::max(age_to, Duration::zero());
  for (std::size_t i = 0; i < kAges.size(); ++i) {
    const Duration begin = std::max(from, kAges.at(i));
    const Duration end = std::min(to, age_end(i));
    if (end <= begin) continue;
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(end - begin);
    AgeClass& age = classes_.at(i);
    age.milliseconds = tally_sum(age.milliseconds, static_cast<std::uint64_t>(time.count()));
  }
  if (!preempted) return;
  AgeClass& last = classes_.at(class_of_end(to));
  last.preemptions = tally_sum(last.preemptions, 1);
}

HazardModel::AgeClass HazardModel::all() const {
  AgeClass sum;
  for (const AgeClass& age : classes_) {
    sum.milliseconds = tally_sum(sum.milliseconds, age.milliseconds);
    sum.preemptions = tally_sum(sum.preemptions, age.preemptions);
  }
  return sum;
}

double HazardModel::preemptions_per_hour(Duration age) const {
  constexpr double kPriorHours =
      std::chrono::duration<double, std::ratio<3600>>(kPriorTime).count();
  // The mean of a Gamma posterior: what was seen, and what the prior stands for, over their times.
  const auto posterior = [](const AgeClass& seen, double prior_rate) {
    const double hours = static_cast<double>(seen.milliseconds) / kHourMilliseconds;
    return (prior_rate * kPriorHours + static_cast<double>(seen.preemptions)) /
           (kPriorHours + hours);
  };
  const double of_place = posterior(all(), kPriorPreemptions / kPriorHours);
  return posterior(classes_.at(class_of(age)), of_place);
}

Duration HazardModel::mean_time_to_failure(Duration age) const {
  const double hours = 1 / preemptions_per_hour(age);
  const double longest = std::chrono::duration<double, std::ratio<3600>>(kMeanTimeMax).count();
  if (!(hours < longest)) return kMeanTimeMax;
  const auto time =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::ratio<3600>>(hours));
  return std::max(time, kMeanTimeMin);
}

Duration HazardModel::watched() const {
  constexpr auto kMost = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Duration::max()).count());
  return std::chrono::milliseconds(std::min(all().milliseconds, kMost));
}

std::uint64_t HazardModel::preemptions() const {
  return all().preemptions;
}

void HazardModel::merge(const HazardModel& other) {
  for (std::size_t i = 0; i < kAges.size(); ++i) {
    AgeClass& age = classes_.at(i);
    age.milliseconds = tally_sum(age.milliseconds, other.classes_.at(i).milliseconds);
    age.preemptions = tally_sum(age.preemptions, other.classes_.at(i).preemptions);
  }
}

std::string HazardModel::to_text() const {
  Json ages = Json::array();
  for (std::size_t i = 0; i < kAges.size(); ++i) {
    ages.push_back({{"from_hours", age_hours(i)},
                    {"watched_ms", classes_.at(i).milliseconds},
                    {"preemptions", classes_.at(i).preemptions}});
  }
  return canonical_json({{"hazard_format", kHazardFormat}, {"ages", ages}});
}

Result<HazardModel> HazardModel::from_text(std::string_view text) {
  OUTLAST_TRY_ASSIGN(const Json json, parse_json(text));
  OUTLAST_TRY_ASSIGN(const std::uint64_t format, json_uint(json, "hazard_format"));
  if (format != kHazardFormat) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("it has format {} and this program reads format {}; use a newer one",
                             format, kHazardFormat));
  }
  const auto ages = json.find("ages");
  if (ages == json.end() || !ages->is_array() || ages->size() != kAges.size()) {
    return Error(ErrorCode::kCorrupt, fmt::format("'ages' is no list of {}", kAges.size()));
  }
  HazardModel model;
  for (std::size_t i = 0; i < kAges.size(); ++i) {
    const Json& age = ages->at(i);
    OUTLAST_TRY_ASSIGN(const std::uint64_t from, json_uint(age, "from_hours"));
    if (from != age_hours(i)) {
      return Error(ErrorCode::kCorrupt, fmt::format("entry {} of 'ages' is from {} h and not from "
                                                    "{} h",
                                                    i + 1, from, age_hours(i)));
    }
    OUTLAST_TRY_ASSIGN(model.classes_.at(i).milliseconds, tally_at(age, "watched_ms"));
    OUTLAST_TRY_ASSIGN(model.classes_.at(i).preemptions, tally_at(age, "preemptions"));
  }
  return model;
}

}  // namespace outlast::job
