#include "report/life_bars.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "drill/report.h"
#include "report/wording.h"

namespace outlast::report {
namespace {

std::string span_text(double from, double to) {
  return fmt::format("{}, from {} to {}", seconds_text(to - from), exact_seconds_text(from),
                     exact_seconds_text(to));
}

std::string starting_title(const drill::Life& life, double to) {
  std::string text = "Starting: " + span_text(life.began, to);
  if (life.training && *life.training <= to) {
    text += fmt::format("; the trainer was started after {}",
                        seconds_text(*life.training - life.began));
  }
  if (life.restored) {
    text += fmt::format("; restored {}, {} fetched",
                        state_text(life.restored->checkpoint, life.restored->step),
                        format_bytes_short(life.restored->fetched_bytes));
  }
  return text;
}

void add_after(std::string& text, std::string_view what, const std::optional<double>& at,
               double from) {
  text += text.ends_with(':') ? " " : ", ";
  text +=
      at ? fmt::format("{} after {}", what, seconds_text(*at - from)) : fmt::format("not {}", what);
}

}  // namespace

std::vector<Bar> bars_of(const drill::Life& life) {
  const double end = std::max(life.began, life.ended);
  const double left = std::clamp(life.left.value_or(end), life.began, end);
  const double started = std::clamp(life.progress.value_or(left), life.began, left);
  std::vector<Bar> bars;
  if (started > life.began) {
    bars.push_back({BarKind::kStarting, life.began, started, starting_title(life, started)});
  }
  if (left > started) {
    bars.push_back({BarKind::kTraining, started, left, "Training: " + span_text(started, left)});
  }
  bool is_noticed = false;
  for (const drill::Injection& injection : life.injections) {
    if (!is_said(injection.trouble)) continue;
    const bool is_withdrawn = injection.trouble == drill::Trouble::kWithdrawn;
    const double over = std::min(injection.at + injection.notice_time, left);
    if (!is_withdrawn) is_noticed = true;
    bars.push_back({is_withdrawn ? BarKind::kWithdrawn : BarKind::kNotice, injection.at,
                    std::max(over, injection.at), title_of(injection)});
  }
  if (end > left) {
    bars.push_back({is_noticed ? BarKind::kSpare : BarKind::kIdle, left, end,
                    "Time to spare: " + span_text(left, end)});
  }
  return bars;
}

std::string title_of(const drill::Injection& injection) {
  const std::string at = exact_seconds_text(injection.at);
  if (injection.trouble == drill::Trouble::kKill) return "Killed without a word at " + at;
  if (injection.trouble == drill::Trouble::kMidSave) return "Killed during a save at " + at;
  std::string text = fmt::format("Notice of {} at {}", seconds_text(injection.notice_time), at);
  if (injection.trouble == drill::Trouble::kWithdrawn) text += ", withdrawn";
  if (injection.trouble == drill::Trouble::kTooLate) text += ", too late";
  text += ":";
  add_after(text, "heard", injection.heard, injection.at);
  add_after(text, "asked", injection.asked, injection.at);
  if (injection.notice_to_committed == 0.0) return text + ", all was safe already";
  add_after(text, "committed", injection.committed, injection.at);
  return text;
}

std::string title_of(const drill::Save& save) {
  std::string text =
      fmt::format("Checkpoint {} at {}: ", save.checkpoint, exact_seconds_text(save.at));
  if (save.step) text += fmt::format("step {}, ", *save.step);
  text += fmt::format("{} ({} new), took {}", format_bytes_short(save.bytes),
                      format_bytes_short(save.stored_bytes), seconds_text(save.seconds));
  if (!save.why.empty()) text += ", " + save.why;
  return text;
}

std::string short_story(const drill::Life& life) {
  std::string text;
  for (const drill::Injection& injection : life.injections) {
    if (!is_said(injection.trouble) || !is_preemption(injection.trouble)) continue;
    if (!injection.notice_to_committed) {
      text = "not saved";
    } else if (*injection.notice_to_committed == 0) {
      text = "safe already";
    } else {
      text = "saved in " + seconds_text(*injection.notice_to_committed);
    }
  }
  const std::string lost = lost_text(life.lost_steps, life.lost_seconds);
  if (lost == kUnknown || lost == kNothing || life.lost_steps == std::uint64_t{0}) return text;
  return text + (text.empty() ? "lost " : ", lost ") +
         (life.lost_steps ? count_text(*life.lost_steps, "step") : lost);
}

std::optional<TextPlace> place_beside(double from, double to, std::size_t characters) {
  const double need = static_cast<double>(characters) * kCharacterWidth + 22;
  for (const bool is_wide_only : {false, true}) {
    const double width = is_wide_only ? kWidePlot : kNarrowPlot;
    if (need <= (1 - to) * width) return TextPlace{Side::kRight, is_wide_only};
    if (need <= from * width) return TextPlace{Side::kLeft, is_wide_only};
  }
  return std::nullopt;
}

}  // namespace outlast::report
