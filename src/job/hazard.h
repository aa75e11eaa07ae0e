#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace outlast::job {

// The risk of a place: how many preemptions an hour, by the age of the machine, learned from what
// happened to machines there. By age, because lifetimes are not alike everywhere: on some clouds
// many machines go in their first hours, few after that, and many again shortly before a day.
//
// The estimate is Bayesian, so that it is sensible from the first minute on. Before anything was
// seen, the rate is taken for Gamma distributed with shape 1 and kPriorTime: one preemption in
// twelve hours, believed as firmly as if one machine had been watched for that long. That lies
// between the once in several days that clouds tell of and the several times a day of busy zones;
// and it need not be exact, because the best time between saves goes with its square root. What all
// ages together tell of the place is the prior of each of them, with the same weight.
//
// A value. Two that learned from different machines can be merged in any order.
class HazardModel {
 public:
  // Where an age class begins; it ends where the next one does, the last never.
  static constexpr std::array<Duration, 8> kAges = {std::chrono::hours(0),  std::chrono::hours(1),
                                                    std::chrono::hours(3),  std::chrono::hours(6),
                                                    std::chrono::hours(12), std::chrono::hours(18),
                                                    std::chrono::hours(22), std::chrono::hours(24)};
  static constexpr Duration kPriorTime = std::chrono::hours(12);

  // A machine was there from one age to another, and then was preempted or not. What was observed
  // already must not be observed again. An empty or reversed span adds no time.
  void observe(Duration age_from, Duration age_to, bool preempted);

  // The rate at this age; above zero.
  double preemptions_per_hour(Duration age) const;
  // Until the next preemption, if the risk were to stay what it is at this age: what a decision
  // about the next half hour needs. From 1 s to 10 years.
  Duration mean_time_to_failure(Duration age) const;

  // All that was observed.
  Duration watched() const;
  std::uint64_t preemptions() const;

  void merge(const HazardModel& other);

  // Canonical text, for the root: equal models have equal texts.
  std::string to_text() const;
  // kCorrupt if it is not such a text; kInvalidArgument, naming both versions, if it is newer.
  static Result<HazardModel> from_text(std::string_view text);

  friend bool operator==(const HazardModel&, const HazardModel&) = default;

 private:
  struct AgeClass {
    // Whole numbers, so that the order of adding does not matter. They stop at their limit.
    std::uint64_t milliseconds = 0;
    std::uint64_t preemptions = 0;
    friend bool operator==(const AgeClass&, const AgeClass&) = default;
  };
  AgeClass all() const;

  std::array<AgeClass, kAges.size()> classes_ = {};
};

}  // namespace outlast::job
