#include "job/save_schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "base/units.h"
#include "job/rules.h"
#include "job/spec.h"

namespace outlast::job {
namespace {

Duration not_negative(Duration duration) {
  return std::max(duration, Duration::zero());
}

// `count` nanoseconds, or the longest there is.
Duration clamped(double count) {
  constexpr Duration kMost = Duration::max();
  if (!(count > 0)) return Duration::zero();
  if (count >= static_cast<double>(kMost.count())) return kMost;
  return Duration(static_cast<Duration::rep>(count));
}

Duration times(Duration duration, int factor) {
  return duration > Duration::max() / factor ? Duration::max() : duration * factor;
}

// An interval, and what it comes from.
struct Rhythm {
  Duration interval = {};
  std::string why = {};
};

Rhythm at_least_an_upload(Rhythm rhythm, const SaveFacts& facts) {
  const Duration upload = not_negative(facts.upload_time.value_or(Duration::zero()));
  if (rhythm.interval >= upload) return rhythm;
  return {.interval = upload, .why = "that is how long an upload takes"};
}

Rhythm auto_rhythm(const SaveFacts& facts) {
  if (!facts.save_cost) {
    return at_least_an_upload(
        {.interval = kFirstSaveInterval, .why = "what a save costs is not measured yet"}, facts);
  }
  const Duration cost = not_negative(*facts.save_cost);
  const Duration best = daly_interval(cost, facts.mean_time_to_failure);
  const Duration most = std::max(kSaveIntervalMax, times(cost, kSaveCostSharesMin));
  Rhythm rhythm{
      .interval = best,
      .why = fmt::format("a save holds the trainer up for {}, and a machine here lasts {} "
                         "on average",
                         format_duration_short(cost),
                         format_duration_short(not_negative(facts.mean_time_to_failure)))};
  if (best > most) {
    rhythm = {.interval = most, .why = "a loss is never to be larger, however safe the place"};
  } else if (best < kSaveIntervalMin) {
    rhythm = {.interval = kSaveIntervalMin,
              .why = fmt::format("a save costs only {}", format_duration_short(cost))};
  }
  return at_least_an_upload(std::move(rhythm), facts);
}

SaveDue due_after(const Rhythm& rhythm, const SaveFacts& facts, std::string_view before = {}) {
  SaveDue due;
  due.why =
      fmt::format("{}every {}: {}", before, format_duration_short(rhythm.interval), rhythm.why);
  const MonoTime time = saturating_add(facts.last_save, rhythm.interval);
  if (time <= facts.now) return due;
  due.kind = SaveDue::Kind::kAtTime;
  due.time = time;
  return due;
}

// The first multiple of `count` above `last`.
std::uint64_t next_multiple(std::uint64_t last, std::uint64_t count) {
  const std::uint64_t past = last % count;
  const std::uint64_t missing = count - past;
  return last > std::numeric_limits<std::uint64_t>::max() - missing
             ? std::numeric_limits<std::uint64_t>::max()
             : last + missing;
}

SaveDue due_at_count(const CheckpointEvery& every, std::uint64_t at,
                     std::optional<std::uint64_t> last_save, SaveDue::Kind kind) {
  const std::uint64_t count = std::max<std::uint64_t>(every.count, 1);
  // A trainer that started over has its saves before it again.
  const std::uint64_t last = last_save && *last_save <= at ? *last_save : 0;
  SaveDue due;
  due.why = fmt::format("every {}, as the job says", format_every(every));
  const std::uint64_t next = next_multiple(last, count);
  if (next <= at) return due;
  due.kind = kind;
  due.count = next;
  return due;
}

}  // namespace

Duration daly_interval(Duration save_cost, Duration mean_time_to_failure) {
  const auto cost = static_cast<double>(not_negative(save_cost).count());
  const auto mean = static_cast<double>(not_negative(mean_time_to_failure).count());
  if (mean == 0) return Duration::zero();
  // Daly's sqrt(2CM) (1 + x/3 + x²/9) - C, with x = sqrt(C / 2M) taken out of it; it holds up to
  // x = 1. From there on he takes M. The value at x = 1, which is 8/9 of it, is as good (nothing
  // much gets done on such a machine) and does not make the interval jump.
  const double x = std::min(std::sqrt(cost / (2 * mean)), 1.0);
  return clamped(2 * mean * x * (1 - 2 * x / 3 + x * x / 9));
}

Duration auto_interval(const SaveFacts& facts) {
  return auto_rhythm(facts).interval;
}

SaveDue next_save(const CheckpointEvery& every, const SaveFacts& facts) {
  using Unit = CheckpointEvery::Unit;
  switch (every.unit) {
    case Unit::kAuto:
      break;
    case Unit::kTime:
      return due_after(at_least_an_upload(
                           {.interval = not_negative(every.time), .why = "as the job says"}, facts),
                       facts);
    case Unit::kSteps:
      if (!facts.step) {
        return due_after(auto_rhythm(facts), facts, "the trainer does not say its step, so ");
      }
      if (facts.steps_total && *facts.steps_total < every.count) {
        return due_after(auto_rhythm(facts), facts, "the trainer does not count that far, so ");
      }
      return due_at_count(every, *facts.step, facts.last_save_step, SaveDue::Kind::kAtStep);
    case Unit::kEpochs:
      if (!facts.epoch) {
        return due_after(auto_rhythm(facts), facts, "the trainer does not say its epoch, so ");
      }
      return due_at_count(every, *facts.epoch, facts.last_save_epoch, SaveDue::Kind::kAtEpoch);
  }
  return due_after(auto_rhythm(facts), facts);
}

}  // namespace outlast::job
