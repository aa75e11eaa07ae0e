#include "bench/harness.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace outlast::bench {
namespace {

constexpr std::size_t kRounds = 11;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::array<double, kRounds> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

struct Outcome {
  double ratio = 0;   // how many times as fast as the baseline
  double lowest = 0;  // of the rounds
  double highest = 0;
  double seconds = 0;  // of one run
};

// The two take turns, so that what disturbs the machine for a while disturbs both; each round gives
// one ratio, and the median of those is the result.
Outcome measure(const Case& one) {
  std::array<double, kRounds> ratios{};
  std::array<double, kRounds> times{};
  one.baseline();
  one.run();
  for (std::size_t round = 0; round < kRounds; ++round) {
    const double baseline = seconds_of(one.baseline);
    times[round] = seconds_of(one.run);
    ratios[round] = baseline / times[round];
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return {.ratio = median(ratios), .lowest = *low, .highest = *high, .seconds = median(times)};
}

std::string speed(const Case& one, const Outcome& outcome) {
  if (one.bytes == 0) return fmt::format("{:.3g} ms", outcome.seconds * 1e3);
  const double megabytes = one.bytes / outcome.seconds / 1e6;
  return fmt::format("{:.{}f} MB/s", megabytes, megabytes < 100 ? 1 : 0);
}

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

int refuse(const Cases& cases, const std::string& name) {
  fmt::print(stderr, "outlast-bench: there is no '{}'. There are:\n", name);
  for (const Case& one : cases) fmt::print(stderr, "  {:<22} {}\n", one.name, one.what);
  return 2;
}

}  // namespace

int run_cases(const Cases& cases, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool known =
        std::any_of(cases.begin(), cases.end(), [&](const Case& one) { return one.name == name; });
    if (!known) return refuse(cases, name);
  }
  const bool show_progress = isatty(STDERR_FILENO) != 0;
  fmt::print("{:<22} {:>11}  {:>8}  {:<17} {}\n", "name", "speed", "ratio", "lowest–highest",
             "what, as many times as fast as its baseline");
  for (const Case& one : cases) {
    if (!wanted(names, one.name)) continue;
    if (show_progress) fmt::print(stderr, "\r\x1b[Kmeasuring {} …", one.name);
    const Outcome outcome = measure(one);
    if (show_progress) fmt::print(stderr, "\r\x1b[K");
    fmt::print("{:<22} {:>11}  {:>7.2f}×  {:<16} {} ÷ {}\n", one.name, speed(one, outcome),
               outcome.ratio, fmt::format("{:.2f}–{:.2f}", outcome.lowest, outcome.highest),
               one.what, one.baseline_name);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace outlast::bench
