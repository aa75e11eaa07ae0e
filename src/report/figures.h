#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "drill/report.h"

namespace outlast::report {

// Of several durations, one a life.
struct Spread {
  double median = 0;
  double worst = 0;
  std::uint64_t worst_life = 0;  // its number
  std::size_t count = 0;
};

// What a drill comes to. Sums are over the disturbed run.
struct Figures {
  std::size_t preemptions = 0;  // that ended a machine
  std::size_t withdrawn = 0;
  std::size_t survived = 0;  // of the preemptions: training went on, or was done
  std::optional<std::uint64_t> lost_steps = {};  // none: no trainer printed any
  std::optional<double> lost_seconds = {};
  std::optional<Spread> notice_to_committed = {};
  std::optional<Spread> recovery = {};
  // How much longer than the undisturbed run, seconds and share of it.
  std::optional<double> overhead_seconds = {};
  std::optional<double> overhead_share = {};
  std::size_t checkpoints = 0;
  std::uint64_t stored_bytes = 0;
};

// Takes a report with finite numbers.
Figures figures_of(const drill::Report& report);

}  // namespace outlast::report
