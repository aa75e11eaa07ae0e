#include "drill/expectations.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "drill/report.h"

namespace outlast::drill {
namespace {

using Kind = Expected::Kind;

constexpr std::string_view kKnown =
    "lost<=0, lost<=10s, recovery<=90s, overhead<=20%, committed<=25s, identical, resumed and "
    "clean "
    "are known";

Error wrong_expectation(std::string_view text, std::string_view why) {
  return {ErrorCode::kInvalidArgument, fmt::format("the expectation '{}': {}", text, why)};
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, value, std::chars_format::fixed);
  if (failure != std::errc() || stop != end || text.empty() || value < 0) return std::nullopt;
  return value;
}

std::optional<double> seconds_in(std::string_view text) {
  const Result<Duration> duration = parse_duration(text);
  if (!duration) return std::nullopt;
  return std::chrono::duration<double>(*duration).count();
}

Result<Expected> parse_limit(std::string_view text, std::string_view name, std::string_view limit) {
  Expected expected = {.text = std::string(text)};
  std::optional<double> value = seconds_in(limit);
  if (name == "lost") {
    expected.kind = value ? Kind::kLostTime : Kind::kLostSteps;
    if (!value) value = plain_number(limit);
    if (!value) return wrong_expectation(text, "a number of steps, or a time such as 10s, is due");
  } else if (name == "recovery" || name == "committed") {
    expected.kind = name == "recovery" ? Kind::kRecovery : Kind::kCommitted;
    if (!value) return wrong_expectation(text, "a time such as 90s is due");
  } else if (name == "overhead") {
    expected.kind = Kind::kOverhead;
    value = limit.ends_with('%') ? plain_number(limit.substr(0, limit.size() - 1)) : std::nullopt;
    if (!value) return wrong_expectation(text, "a percentage such as 20% is due");
    *value /= 100;
  } else {
    return wrong_expectation(text, kKnown);
  }
  expected.limit = *value;
  return expected;
}

Result<Expected> parse_one(std::string_view text) {
  if (text == "identical") return Expected{.kind = Kind::kIdentical, .text = std::string(text)};
  if (text == "resumed") return Expected{.kind = Kind::kResumed, .text = std::string(text)};
  if (text == "clean") return Expected{.kind = Kind::kNoFindings, .text = std::string(text)};
  const std::size_t at = text.find("<=");
  if (at == std::string_view::npos) return wrong_expectation(text, kKnown);
  return parse_limit(text, ascii_trimmed(text.substr(0, at)), ascii_trimmed(text.substr(at + 2)));
}

std::string seconds_text(double seconds) {
  return format_duration_short(
      std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
}

// The largest of something over the lives.
struct Worst {
  std::optional<double> value = {};
  std::uint64_t machine = 0;

  void take(double one, std::uint64_t number) {
    if (value && one <= *value) return;
    value = one;
    machine = number;
  }
};

void judge_worst(const Worst& worst, const Expected& expected, std::string_view nothing,
                 Expectation& judged) {
  if (!worst.value) {
    judged.found = nothing;
    return;
  }
  judged.is_met = *worst.value <= expected.limit;
  const bool is_steps = expected.kind == Kind::kLostSteps;
  judged.found =
      fmt::format("{}{} machine {}",
                  is_steps ? fmt::format("{} step{}", *worst.value, *worst.value == 1 ? "" : "s")
                           : seconds_text(*worst.value),
                  is_steps || expected.kind == Kind::kLostTime ? " of" : " after", worst.machine);
  const bool is_loss = is_steps || expected.kind == Kind::kLostTime;
  if (is_loss && *worst.value == 0) judged.found = is_steps ? "0 steps" : "0s";
}

void judge_lives(const Expected& expected, const Report& report, Expectation& judged) {
  Worst worst;
  for (const Life& life : report.disturbed.lives) {
    if (expected.kind == Kind::kLostSteps && life.lost_steps) {
      worst.take(static_cast<double>(*life.lost_steps), life.number);
    }
    if (expected.kind == Kind::kLostTime && life.lost_seconds) {
      worst.take(*life.lost_seconds, life.number);
    }
    if (expected.kind == Kind::kRecovery && life.recovery) {
      worst.take(*life.recovery, life.number);
    }
  }
  judge_worst(worst, expected,
              expected.kind == Kind::kLostSteps
                  ? "cannot be told: no steps could be read from what the trainer prints"
                  : "cannot be told: no machine was lost and followed by another",
              judged);
}

void judge_committed(const Expected& expected, const Report& report, Expectation& judged) {
  Worst worst;
  for (const Life& life : report.disturbed.lives) {
    for (const Injection& injection : life.injections) {
      if (injection.trouble != Trouble::kNotice) continue;
      if (!injection.notice_to_committed) {
        judged.found = fmt::format("machine {} was gone before", life.number);
        return;
      }
      worst.take(*injection.notice_to_committed, life.number);
    }
  }
  judge_worst(worst, expected, "cannot be told: there was no notice", judged);
  if (worst.value)
    judged.found = fmt::format("{} on machine {}", seconds_text(*worst.value), worst.machine);
}

void judge_resumed(const Report& report, Expectation& judged) {
  const auto finding = std::ranges::find_if(report.findings, [](const Finding& one) {
    return one.id == "does-not-resume" || one.id == "crashes-on-resume" ||
           one.id == "hangs-on-resume";
  });
  const auto resumed = std::ranges::count_if(
      report.disturbed.lives, [](const Life& life) { return life.restored.has_value(); });
  judged.is_met =
      finding == report.findings.end() && resumed > 0 && report.disturbed.outcome == "done";
  if (finding != report.findings.end()) {
    judged.found = finding->id;
  } else if (report.disturbed.lives.size() < 2) {
    judged.found = "no machine was lost before the job was done";
  } else if (resumed == 0) {
    judged.found = "nothing was saved that a machine could have gone on from";
  } else if (report.disturbed.outcome != "done") {
    judged.found = fmt::format("the job ended as '{}'", report.disturbed.outcome);
  } else {
    judged.found = fmt::format("{} of {} machines", resumed, report.disturbed.lives.size() - 1);
  }
}

void judge_identical(const Expected& expected, const Report& report, Expectation& judged) {
  if (!report.comparison) {
    judged.found = "cannot be told: the disturbed run did not come to an end";
    return;
  }
  const Comparison& comparison = *report.comparison;
  judged.is_met = comparison.is_identical;
  if (comparison.is_identical) {
    judged.found = fmt::format("{} file{}", comparison.files, comparison.files == 1 ? "" : "s");
  } else if (comparison.is_repeatable == false) {
    judged.is_met = expected.is_default;
    judged.found = "cannot be told: two undisturbed runs differ, too";
  } else {
    judged.found =
        fmt::format("{} of {} files differ", comparison.differences.size(), comparison.files);
  }
}

Expectation judge_one(const Expected& expected, const Report& report) {
  Expectation judged = {.text = expected.text};
  switch (expected.kind) {
    case Kind::kLostSteps:
    case Kind::kLostTime:
    case Kind::kRecovery:
      judge_lives(expected, report, judged);
      break;
    case Kind::kCommitted:
      judge_committed(expected, report, judged);
      break;
    case Kind::kOverhead: {
      const std::optional<double> part = overhead(report);
      judged.is_met = part && *part <= expected.limit;
      judged.found = part ? fmt::format("{:.0f}%", *part * 100)
                          : "cannot be told: one of the runs did not come to an end";
      break;
    }
    case Kind::kIdentical:
      judge_identical(expected, report, judged);
      break;
    case Kind::kResumed:
      judge_resumed(report, judged);
      break;
    case Kind::kNoFindings:
      judged.is_met = report.findings.empty();
      judged.found = report.findings.empty() ? "nothing was found" : report.findings.front().id;
      break;
  }
  return judged;
}

}  // namespace

Result<std::vector<Expected>> parse_expectations(std::string_view text) {
  std::vector<Expected> expected;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    OUTLAST_TRY_ASSIGN(Expected one, parse_one(ascii_trimmed(text.substr(at, end - at))));
    expected.push_back(std::move(one));
    at = end + 1;
  }
  return expected;
}

std::vector<Expected> default_expectations() {
  return {{.kind = Kind::kResumed, .text = "resumed", .is_default = true},
          {.kind = Kind::kIdentical, .text = "identical", .is_default = true}};
}

std::vector<Expectation> judge_rehearsal(const Report& report) {
  std::vector<Expectation> unmet;
  if (report.disturbed.outcome != "done") {
    unmet.push_back({.text = "done",
                     .found = fmt::format(
                         "machine {} ended as '{}'",
                         report.disturbed.lives.empty() ? 1 : report.disturbed.lives.back().number,
                         report.disturbed.outcome)});
  }
  const bool is_disturbed = std::ranges::any_of(
      report.disturbed.lives, [](const Life& life) { return !life.injections.empty(); });
  if (!is_disturbed) {
    unmet.push_back({.text = "disturbed",
                     .found = "nothing came about: the job was over before the first trouble was "
                              "due; let it train longer, or disturb it sooner (--schedule)"});
  }
  return unmet;
}

std::vector<Expectation> judge(const std::vector<Expected>& expected, const Report& report) {
  std::vector<Expectation> judged;
  judged.reserve(expected.size());
  for (const Expected& one : expected) judged.push_back(judge_one(one, report));
  return judged;
}

}  // namespace outlast::drill
