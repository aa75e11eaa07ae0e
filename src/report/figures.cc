#include "report/figures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "drill/report.h"
#include "report/wording.h"

namespace outlast::report {
namespace {

struct Measured {
  double seconds = 0;
  std::uint64_t life = 0;
};

// Of equals the first machine comes last: it is the one to be named.
bool is_less(const Measured& a, const Measured& b) {
  return a.seconds != b.seconds ? a.seconds < b.seconds : a.life > b.life;
}

std::optional<Spread> spread_of(std::vector<Measured> all) {
  if (all.empty()) return std::nullopt;
  std::sort(all.begin(), all.end(), is_less);
  const std::size_t middle = all.size() / 2;
  const double median = all.size() % 2 == 1 ? all[middle].seconds
                                            : (all[middle - 1].seconds + all[middle].seconds) / 2;
  return Spread{.median = median,
                .worst = all.back().seconds,
                .worst_life = all.back().life,
                .count = all.size()};
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

// Training went on in a later life, or was done.
bool goes_on_after(const drill::Run& run, std::size_t life) {
  if (run.outcome == "done") return true;
  return std::any_of(run.lives.begin() + static_cast<std::ptrdiff_t>(life) + 1, run.lives.end(),
                     [](const drill::Life& later) { return later.progress.has_value(); });
}

void add_overhead(const drill::Report& report, Figures& figures) {
  if (!report.undisturbed || report.disturbed.outcome != "done") return;
  figures.overhead_seconds = report.disturbed.seconds - report.undisturbed->seconds;
  figures.overhead_share = drill::overhead(report);
}

}  // namespace

Figures figures_of(const drill::Report& report) {
  Figures figures;
  std::vector<Measured> notices;
  std::vector<Measured> recoveries;
  const drill::Run& run = report.disturbed;
  for (std::size_t i = 0; i < run.lives.size(); ++i) {
    const drill::Life& life = run.lives[i];
    for (const drill::Injection& injection : life.injections) {
      if (injection.trouble == drill::Trouble::kWithdrawn) ++figures.withdrawn;
      if (is_preemption(injection.trouble)) {
        ++figures.preemptions;
        if (goes_on_after(run, i)) ++figures.survived;
      }
      if (injection.notice_to_committed && is_said(injection.trouble)) {
        notices.push_back({.seconds = *injection.notice_to_committed, .life = life.number});
      }
    }
    if (life.recovery) recoveries.push_back({.seconds = *life.recovery, .life = life.number});
    if (life.lost_steps) {
      figures.lost_steps = saturating_sum(figures.lost_steps.value_or(0), *life.lost_steps);
    }
    if (life.lost_seconds) {
      figures.lost_seconds = figures.lost_seconds.value_or(0) + *life.lost_seconds;
    }
    figures.checkpoints += life.saves.size();
  }
  figures.notice_to_committed = spread_of(std::move(notices));
  figures.recovery = spread_of(std::move(recoveries));
  figures.stored_bytes = run.stored_bytes;
  add_overhead(report, figures);
  return figures;
}

}  // namespace outlast::report
