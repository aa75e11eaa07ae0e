#include "report/verdict.h"

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <vector>

#include "drill/report.h"
#include "report/figures.h"
#include "report/wording.h"

namespace outlast::report {
namespace {

std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::vector<std::string> unmet(const drill::Report& report) {
  std::vector<std::string> texts;
  for (const drill::Expectation& expectation : report.expectations) {
    if (!expectation.is_met) texts.push_back(expectation.text);
  }
  return texts;
}

// "nothing was lost, bit-identical"; empty if neither is known.
std::string kept_text(const drill::Report& report, const Figures& figures) {
  std::vector<std::string> parts;
  const std::string lost = lost_text(figures.lost_steps, figures.lost_seconds);
  if (lost == kNothing) {
    parts.emplace_back("nothing was lost");
  } else if (figures.lost_steps == std::uint64_t{0}) {
    parts.emplace_back("no step was lost");
  } else if (lost != kUnknown) {
    parts.push_back("lost " + lost);
  }
  if (report.comparison) {
    parts.emplace_back(report.comparison->is_identical ? "bit-identical" : "the result differs");
  }
  return listed(parts);
}

std::string survival_text(const drill::Report& report, const Figures& figures) {
  const std::string kept = kept_text(report, figures);
  const std::string done = figures.preemptions == 0
                               ? "No machine was taken away"
                               : fmt::format("Survived {} of {}", figures.survived,
                                             count_text(figures.preemptions, "preemption"));
  return kept.empty() ? done : done + ": " + kept;
}

bool is_flawless(const drill::Report& report) {
  return report.findings.empty() && (!report.comparison || report.comparison->is_identical);
}

}  // namespace

Verdict verdict_of(const drill::Report& report, const Figures& figures) {
  const std::vector<std::string> failed = unmet(report);
  if (!failed.empty()) {
    return {.tone = Tone::kBad,
            .sentence =
                fmt::format("{} of {} failed: {}", failed.size(),
                            count_text(report.expectations.size(), "expectation"), listed(failed))};
  }
  const std::string survival = survival_text(report, figures);
  if (report.disturbed.outcome != "done") {
    return {.tone = Tone::kBad, .sentence = survival + "; the job did not get done"};
  }
  if (!report.is_passed) return {.tone = Tone::kBad, .sentence = "The drill failed. " + survival};
  return {.tone = is_flawless(report) ? Tone::kGood : Tone::kMixed, .sentence = survival};
}

}  // namespace outlast::report
