#include "job/notice_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/units.h"

namespace outlast::job {
namespace {

constexpr Duration kForever = Duration::max();
// Times beyond this are all the same, and can be added to each other.
constexpr Duration kPlanSpanMax = kForever / 8;

Duration in_bounds(Duration duration) {
  return std::clamp(duration, Duration::zero(), kPlanSpanMax);
}

// A number of bytes a second that can be divided by.
double bandwidth_of(const NoticeFacts& facts) {
  const double bandwidth = facts.bandwidth.value_or(facts.bandwidth_guess);
  return std::isfinite(bandwidth) && bandwidth > 0 ? bandwidth : 0;
}

Duration upload_time(std::uint64_t bytes, const NoticeFacts& facts) {
  if (bytes == 0) return Duration::zero();
  const double nanoseconds = std::ceil(static_cast<double>(bytes) / bandwidth_of(facts) * 1e9);
  if (!(nanoseconds < static_cast<double>(kPlanSpanMax.count()))) return kPlanSpanMax;
  return Duration(static_cast<Duration::rep>(nanoseconds));
}

std::uint64_t fresh_bytes(const NoticeFacts& facts) {
  const double share = facts.new_share >= 0 && facts.new_share <= 1 ? facts.new_share : 1;
  const std::uint64_t state = facts.state_bytes.value_or(0);
  if (share == 1) return state;
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(state) * share));
}

Duration save_time(const NoticeFacts& facts) {
  return in_bounds(facts.save_time.value_or(facts.save_time_guess));
}

// How long before the end a commit must have been sent.
Duration reserve(const NoticeFacts& facts) {
  const Duration share = in_bounds(facts.time_left) / kNoticeReserveShares;
  return std::min(share, kNoticeReserveMax) +
         in_bounds(facts.commit_time.value_or(facts.commit_time_guess));
}

// What is left for saving and uploading; not above zero if not even a commit fits.
Duration usable(const NoticeFacts& facts) {
  return in_bounds(facts.time_left) - reserve(facts);
}

bool is_guessed(const NoticeFacts& facts) {
  return !facts.bandwidth || !facts.commit_time || !facts.save_time || !facts.state_bytes;
}

std::string speed_text(const NoticeFacts& facts) {
  const auto bytes = static_cast<std::uint64_t>(std::min(bandwidth_of(facts), 1e18));
  return fmt::format("{}/s{}", format_bytes_short(bytes), facts.bandwidth ? "" : " (a guess)");
}

std::string usable_text(const NoticeFacts& facts) {
  return fmt::format("{} of the {} left can be used",
                     format_duration_short(std::max(usable(facts), Duration::zero())),
                     format_duration_short(in_bounds(facts.time_left)));
}

std::string upload_text(std::string_view what, std::uint64_t bytes, const NoticeFacts& facts) {
  return fmt::format("{} of {} at {} take {}", format_bytes_short(bytes), what, speed_text(facts),
                     format_duration_short(upload_time(bytes, facts)));
}

// What a fresh save needs, from asking for it to sending the commit.
std::string fresh_text(const NoticeFacts& facts) {
  const std::string saving =
      fmt::format("saving takes {}{}", format_duration_short(save_time(facts)),
                  facts.save_time ? "" : " (a guess)");
  if (!facts.state_bytes) return saving + " and the size of the state is not known";
  return fmt::format("{} and {}", saving, upload_text("a fresh state", fresh_bytes(facts), facts));
}

bool fits(Duration need, const NoticeFacts& facts) {
  return usable(facts) > Duration::zero() && need <= usable(facts);
}

bool fits_fresh(const NoticeFacts& facts) {
  if (!facts.can_ask) return false;
  if (!facts.state_bytes && facts.held_bytes) return false;
  return fits(save_time(facts) + upload_time(fresh_bytes(facts), facts), facts);
}

bool fits_held(const NoticeFacts& facts) {
  return facts.held_bytes && fits(upload_time(*facts.held_bytes, facts), facts);
}

// How long the trainer may train on before it has to be asked for a fresh save, which fits.
Duration spare_time(const NoticeFacts& facts) {
  if (facts.confidence != NoticeConfidence::kCertain) return Duration::zero();
  const Duration need = in_bounds(save_time(facts) + upload_time(fresh_bytes(facts), facts));
  if (!is_guessed(facts)) return usable(facts) - need;
  const Duration least = facts.state_bytes ? kNoticeGuessMin : kNoticeUnknownMin;
  return std::max(usable(facts) - std::max(need * kNoticeGuessFactor, least), Duration::zero());
}

NoticePlan plan_fresh(const NoticeFacts& facts) {
  NoticePlan plan;
  plan.choice = NoticeChoice::kFreshSave;
  plan.commit_by = saturating_add(facts.now, usable(facts));
  const Duration spare = spare_time(facts);
  const bool at_once = spare <= Duration::zero();
  plan.ask_by = at_once ? facts.now : saturating_add(facts.now, spare);
  plan.why = fmt::format(
      "a fresh save: {}, and {}; the trainer is asked {}", fresh_text(facts), usable_text(facts),
      at_once ? "at once" : fmt::format("in {} at the latest", format_duration_short(spare)));
  return plan;
}

NoticePlan plan_held(const NoticeFacts& facts) {
  NoticePlan plan;
  plan.choice = NoticeChoice::kHeldState;
  plan.commit_by = saturating_add(facts.now, usable(facts));
  plan.why =
      fmt::format("the state on the disk: {}, and {}; {}",
                  upload_text("it", facts.held_bytes.value_or(0), facts), usable_text(facts),
                  facts.can_ask ? fmt::format("a fresh one does not fit: {}", fresh_text(facts))
                                : "the trainer cannot be asked for a fresh one");
  return plan;
}

NoticePlan plan_nothing(const NoticeFacts& facts) {
  std::string need = "nothing newer is on the disk and the trainer cannot be asked to save";
  if (facts.can_ask && facts.held_bytes) {
    need = fmt::format("{}, {}", upload_text("the state on the disk", *facts.held_bytes, facts),
                       fresh_text(facts));
  } else if (facts.can_ask) {
    need = fresh_text(facts);
  } else if (facts.held_bytes) {
    need = upload_text("the state on the disk", *facts.held_bytes, facts);
  }
  NoticePlan plan;
  plan.why = fmt::format("what is committed has to do: {}, and {}", need, usable_text(facts));
  return plan;
}

}  // namespace

std::string_view to_string(NoticeChoice choice) {
  switch (choice) {
    case NoticeChoice::kKeepCommitted:
      return "keep-committed";
    case NoticeChoice::kHeldState:
      return "held-state";
    case NoticeChoice::kFreshSave:
      return "fresh-save";
  }
  return "keep-committed";
}

NoticePlan plan_notice(const NoticeFacts& facts) {
  if (fits_fresh(facts)) return plan_fresh(facts);
  if (fits_held(facts)) return plan_held(facts);
  return plan_nothing(facts);
}

std::optional<Duration> notice_margin(const NoticeFacts& facts) {
  if (facts.can_ask) {
    if (!facts.state_bytes) return std::nullopt;
    return usable(facts) - save_time(facts) - upload_time(fresh_bytes(facts), facts);
  }
  return usable(facts) - upload_time(facts.held_bytes.value_or(0), facts);
}

}  // namespace outlast::job
