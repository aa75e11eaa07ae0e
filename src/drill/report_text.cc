#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "drill/report.h"
#include "drill/shown.h"

namespace outlast::drill {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kDifferencesShown = 5;

enum class Ink { kPlain, kBold, kDim, kGood, kBad };

class Pen {
 public:
  explicit Pen(bool has_colour) : has_colour_(has_colour) {}
  std::string operator()(Ink ink, std::string_view text) const {
    constexpr std::array<std::string_view, 5> kCodes = {"0", "1", "2", "32", "31"};
    if (!has_colour_ || ink == Ink::kPlain) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", kCodes.at(static_cast<std::size_t>(ink)), text);
  }

 private:
  bool has_colour_;
};

std::string time_text(double seconds) {
  return format_duration_short(
      std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
}
std::string time_text(const std::optional<double>& seconds) {
  return seconds ? time_text(*seconds) : "-";
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string rows_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], characters(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += ' ' + row[i] + std::string(widths[i] - characters(row[i]) + 1, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// Broken at spaces, each line after `indent`.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string lines;
  std::string line(indent);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (line.size() > indent.size() && characters(line) + 1 + characters(word) > kWidth) {
      lines += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) line += ' ';
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + line + "\n";
}

std::string what_happened(const Life& life) {
  std::string text;
  for (const Injection& injection : life.injections) {
    const double after = injection.at - life.training.value_or(life.began);
    std::string one;
    switch (injection.trouble) {
      case Trouble::kNotice:
        one = fmt::format("notice after {}", time_text(after));
        break;
      case Trouble::kWithdrawn:
        one = fmt::format("withdrawn notice after {}", time_text(after));
        break;
      case Trouble::kTooLate:
        one = fmt::format("late notice after {}", time_text(after));
        break;
      case Trouble::kKill:
        one = fmt::format("killed after {}", time_text(after));
        break;
      case Trouble::kMidSave:
        one = fmt::format("killed in a save, after {}", time_text(after));
        break;
      case Trouble::kNone:
        break;
    }
    text += (text.empty() ? "" : "; ") + one;
  }
  if (life.outcome == "done") text += text.empty() ? "until the job was done" : "; job done";
  if (life.outcome == "failed" || life.outcome == "broken" || life.outcome == "hung") {
    text += (text.empty() ? "" : "; ") + life.outcome;
  }
  return text;
}

std::string steps_text(const Life& life) {
  if (!life.first_step || !life.last_step) return "-";
  return fmt::format("{} to {}", *life.first_step, *life.last_step);
}

std::string committed_text(const Life& life) {
  if (life.injections.empty()) return "-";
  const Injection& last = life.injections.back();
  if (last.trouble == Trouble::kKill || last.trouble == Trouble::kMidSave) return "-";
  return last.notice_to_committed ? time_text(*last.notice_to_committed) : "never";
}

std::string lost_text(const Life& life) {
  if (life.lost_steps && life.lost_seconds) {
    return fmt::format("{} step{}, {}", *life.lost_steps, *life.lost_steps == 1 ? "" : "s",
                       time_text(*life.lost_seconds));
  }
  return life.lost_steps ? fmt::format("{} steps", *life.lost_steps) : time_text(life.lost_seconds);
}

std::string lives_text(const Report& report) {
  std::vector<std::vector<std::string>> rows = {
      {"machine", "what happened", "steps", "notice→committed", "lost", "back after"}};
  for (const Life& life : report.disturbed.lives) {
    rows.push_back({fmt::format("{}", life.number), what_happened(life), steps_text(life),
                    committed_text(life), lost_text(life), time_text(life.recovery)});
  }
  return rows_text(rows);
}

std::string result_text(const Report& report, const Pen& pen) {
  if (!report.comparison) return "";
  const Comparison& comparison = *report.comparison;
  if (comparison.is_identical) {
    return pen(Ink::kGood, fmt::format("The result is identical, bit for bit, in {} file{}.\n",
                                       comparison.files, comparison.files == 1 ? "" : "s"));
  }
  std::string text = pen(Ink::kBad, "The result is another one:\n");
  for (std::size_t i = 0; i < comparison.differences.size(); ++i) {
    if (i == kDifferencesShown) {
      text += fmt::format("  … and {} more\n", comparison.differences.size() - i);
      break;
    }
    text += fmt::format("  {}\n", shown(comparison.differences[i]));
  }
  return text;
}

std::string sums_text(const Report& report) {
  std::string text;
  const std::optional<double> part = overhead(report);
  if (report.undisturbed) {
    text += fmt::format("Undisturbed it took {}, ", time_text(report.undisturbed->seconds));
  }
  text += fmt::format("{} {} machine{} {}{}; {} were stored.\n", text.empty() ? "It was on" : "on",
                      report.disturbed.lives.size(), report.disturbed.lives.size() == 1 ? "" : "s",
                      time_text(report.disturbed.seconds),
                      part ? fmt::format(" ({:+.0f} %)", *part * 100) : "",
                      format_bytes_short(report.disturbed.stored_bytes));
  std::size_t happened = 0;
  for (const Life& life : report.disturbed.lives) happened += life.injections.size();
  if (happened < report.planned) {
    text += fmt::format(
        "Of {} troubles {} came about: {}.\n", report.planned, happened,
        report.disturbed.outcome == "done" ? "the job was done before" : "the run ended before");
  }
  return text;
}

}  // namespace

std::string to_text(const Report& report, bool colour) {
  const Pen pen(colour);
  std::string text = fmt::format("{}\n", pen(Ink::kBold, shown(report.command)));
  text += lives_text(report) + "\n" + sums_text(report) + result_text(report, pen);
  for (const Finding& finding : report.findings) {
    text += fmt::format("\n{} {}\n", pen(Ink::kBad, finding.id + ":"), "");
    text.erase(text.size() - 2);
    text += "\n" + wrapped(shown(finding.sentence), "  ");
    for (const std::string& line : finding.evidence) {
      text += pen(Ink::kDim, "    " + shown(line)) + "\n";
    }
    text += wrapped("→ " + finding.advice, "  ");
  }
  text += "\n";
  for (const Expectation& expectation : report.expectations) {
    text += fmt::format("{}  {}: {}\n",
                        expectation.is_met ? pen(Ink::kGood, "met    ") : pen(Ink::kBad, "NOT MET"),
                        expectation.text, expectation.found);
  }
  return text;
}

}  // namespace outlast::drill
