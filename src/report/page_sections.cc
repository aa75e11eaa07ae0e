#include "report/page_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shell_word.h"
#include "base/time.h"
#include "base/units.h"
#include "drill/report.h"
#include "report/figures.h"
#include "report/markup.h"
#include "report/verdict.h"
#include "report/wording.h"

namespace outlast::report {
namespace {

constexpr std::string_view kMet = "✓";
constexpr std::string_view kNotMet = "✗";
constexpr std::size_t kDifferencesMax = 40;

std::string_view word_for(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "good";
    case Tone::kMixed:
      return "mixed";
    case Tone::kBad:
      return "bad";
  }
  return "";
}

std::string_view seal_for(Tone tone) {
  if (tone == Tone::kMixed) return "!";
  return tone == Tone::kGood ? kMet : kNotMet;
}

std::string injected_text(const drill::Report& report, const Figures& figures) {
  std::string text = count_text(figures.preemptions, "preemption");
  if (!report.source.empty()) text += " by " + report.source;
  if (figures.withdrawn > 0) text += fmt::format(", {} withdrawn", figures.withdrawn);
  if (report.notice_time > 0) text += ", " + seconds_text(report.notice_time) + " notice";
  if (figures.preemptions + figures.withdrawn < report.planned) {
    text += fmt::format("; {} were planned, but the {} before", report.planned,
                        report.disturbed.outcome == "done" ? "job was done" : "run ended");
  }
  return text;
}

void write_expectation(Markup& markup, const drill::Expectation& expectation) {
  markup.open("li", {{"class", expectation.is_met ? "met" : "unmet"}});
  markup.leaf(
      "span",
      {{"class", "sign"}, {"role", "img"}, {"aria-label", expectation.is_met ? "met" : "not met"}},
      expectation.is_met ? kMet : kNotMet);
  markup.leaf("code", {}, expectation.text);
  if (!expectation.found.empty()) {
    markup.text(" ").leaf("span", {{"class", "note"}}, expectation.found);
  }
  markup.close();
}

struct Tile {
  std::string_view name;
  std::string value;
  std::string note = {};
  std::string_view kind = {};  // of value it is, in small letters
};

void write_tile(Markup& markup, const Tile& tile) {
  markup.open("div").leaf("dt", {}, tile.name);
  markup.open("dd", {{"class", "value"}}).text(tile.value);
  if (!tile.kind.empty()) markup.text(" ").leaf("small", {}, tile.kind);
  markup.close();
  if (!tile.note.empty()) markup.leaf("dd", {{"class", "note"}}, tile.note);
  markup.close();
}

Tile spread_tile(std::string_view name, const std::optional<Spread>& spread) {
  if (!spread) return {.name = name, .value = std::string(kUnknown)};
  const std::string where = fmt::format("machine\u00A0{}", spread->worst_life);
  if (spread->count == 1) {
    return {.name = name, .value = seconds_text(spread->median), .note = where};
  }
  return {.name = name,
          .value = seconds_text(spread->median),
          .note = fmt::format("worst {}, {}", seconds_text(spread->worst), where),
          .kind = "median"};
}

Tile lost_tile(const Figures& figures) {
  Tile tile{.name = "Work lost", .value = std::string(kUnknown)};
  if (figures.lost_steps) {
    tile.value = count_text(*figures.lost_steps, "step");
    if (lost_text(figures.lost_steps, figures.lost_seconds) == kNothing) {
      tile.note = "nothing was done twice";
    } else if (figures.lost_seconds) {
      tile.note = seconds_text(*figures.lost_seconds) + " of training done twice";
    }
  } else if (figures.lost_seconds) {
    tile.value = seconds_text(*figures.lost_seconds);
    tile.note = "of training done twice";
  }
  return tile;
}

Tile overhead_tile(const Figures& figures) {
  Tile tile{.name = "Overhead", .value = std::string(kUnknown)};
  if (!figures.overhead_seconds) return tile;
  const double seconds = *figures.overhead_seconds;
  const std::string_view sign = seconds < 0 ? "−" : "+";
  tile.value = fmt::format("{}{}", sign, seconds_text(std::abs(seconds)));
  if (figures.overhead_share) {
    tile.note = fmt::format("{:.0f} % {} undisturbed", std::abs(*figures.overhead_share) * 100,
                            seconds < 0 ? "under" : "over");
  }
  return tile;
}

std::string result_sentence(const drill::Comparison& comparison) {
  const std::string files = count_text(comparison.files, "file");
  if (comparison.is_identical) {
    return fmt::format("Bit-identical to the undisturbed run: {} compared.", files);
  }
  std::string text = fmt::format("Not bit-identical to the undisturbed run: {} compared", files);
  const std::size_t differences = comparison.differences.size();
  text += differences > 0 ? fmt::format(", {}.", count_text(differences, "difference")) : ".";
  if (comparison.first_other_step) {
    text +=
        fmt::format(" What the trainer printed parts at step {}.", *comparison.first_other_step);
  }
  if (comparison.is_repeatable) {
    text += *comparison.is_repeatable
                ? " Two undisturbed runs end alike, so the preemptions made the difference."
                : " Two undisturbed runs differ, too: this trainer does not repeat itself.";
  }
  return text;
}

void write_lines(Markup& markup, const std::vector<std::string>& lines) {
  markup.open("ul", {{"class", "lines"}});
  for (std::size_t i = 0; i < lines.size() && i < kDifferencesMax; ++i) {
    markup.open("li").leaf("code", {}, lines[i]).close();
  }
  if (lines.size() > kDifferencesMax) {
    markup.leaf("li", {{"class", "note"}},
                fmt::format("and {} more; --json has them all", lines.size() - kDifferencesMax));
  }
  markup.close();
}

std::string repeat_command(const drill::Report& report, const Figures& figures) {
  std::string text = "outlast drill";
  if (!report.source.empty()) text += " --as " + shell_word(report.source);
  const std::uint64_t troubles = std::max<std::uint64_t>(report.planned, figures.preemptions);
  if (troubles > 0) text += fmt::format(" --preemptions {}", troubles);
  if (report.notice_time > 0) text += " --notice-time " + exact_seconds_text(report.notice_time);
  std::string wanted;
  for (const drill::Expectation& expectation : report.expectations) {
    wanted += (wanted.empty() ? "" : ",") + expectation.text;
  }
  if (!wanted.empty()) text += " --expect " + shell_word(wanted);
  return report.command.empty() ? text : text + " -- " + report.command;
}

void write_fact(Markup& markup, std::string_view name, std::string_view value,
                std::string_view element = "span") {
  if (value.empty()) return;
  markup.open("div").leaf("dt", {}, name).open("dd").leaf(element, {}, value).close().close();
}

// "2026-11-17 14:30 UTC"
std::string date_text(WallTime moment) {
  const std::string text = format_rfc3339(moment);
  return text.substr(0, 10) + " " + text.substr(11, 5) + " UTC";
}

}  // namespace

void write_header(Markup& markup, const drill::Report& report, const Figures& figures) {
  const Verdict verdict = verdict_of(report, figures);
  markup.open("header", {{"class", std::string(word_for(verdict.tone))}});
  markup.open("p", {{"class", "eyebrow"}}).text("Drill");
  if (!report.job.empty()) markup.text(" of ").leaf("b", {}, report.job);
  markup.close();
  markup.open("h1");
  markup.leaf("span", {{"class", "seal"}, {"aria-hidden", "true"}}, seal_for(verdict.tone));
  markup.leaf("span", {{"class", "sentence"}}, verdict.sentence).close();
  markup.open("p", {{"class", "summary"}}).text(injected_text(report, figures));
  markup.text(" · " + date_text(report.began));
  if (!report.findings.empty()) {
    markup.text(" · ").leaf("a", {{"href", "#findings"}},
                            count_text(report.findings.size(), "finding"));
  }
  markup.close();
  if (!report.expectations.empty()) {
    markup.open("ul", {{"class", "expectations"}, {"aria-label", "Expectations"}});
    for (const drill::Expectation& each : report.expectations) write_expectation(markup, each);
    markup.close();
  }
  markup.close();
}

void write_figures(Markup& markup, const Figures& figures) {
  markup.open("section", {{"aria-label", "Key figures"}}).open("dl", {{"class", "figures"}});
  write_tile(markup, lost_tile(figures));
  write_tile(markup, spread_tile("Notice → commit", figures.notice_to_committed));
  write_tile(markup, spread_tile("Back to training", figures.recovery));
  write_tile(markup, overhead_tile(figures));
  write_tile(markup, {.name = "Stored",
                      .value = format_bytes_short(figures.stored_bytes),
                      .note = "in " + count_text(figures.checkpoints, "checkpoint")});
  markup.close().close();
}

void write_result(Markup& markup, const drill::Report& report) {
  markup.open("section").leaf("h2", {}, "Result");
  if (!report.comparison) {
    markup.leaf("p", {},
                report.disturbed.outcome == "done"
                    ? "It was not compared with anything."
                    : "The disturbed run did not come to an end: there is nothing to compare.");
  } else {
    markup.leaf("p", {}, result_sentence(*report.comparison));
    if (!report.comparison->differences.empty()) {
      write_lines(markup, report.comparison->differences);
    }
  }
  markup.close();
}

void write_findings(Markup& markup, const drill::Report& report) {
  if (report.findings.empty()) return;
  markup.open("section", {{"id", "findings"}}).leaf("h2", {}, "Findings");
  for (const drill::Finding& finding : report.findings) {
    markup.open("article", {{"class", "finding"}});
    markup.leaf("h3", {}, finding.sentence).leaf("p", {{"class", "id"}}, finding.id);
    if (!finding.evidence.empty()) write_lines(markup, finding.evidence);
    if (!finding.advice.empty()) {
      markup.open("p", {{"class", "advice"}}).leaf("b", {}, "What to change: ");
      markup.text(finding.advice).close();
    }
    markup.close();
  }
  markup.close();
}

void write_run(Markup& markup, const drill::Report& report, const Figures& figures) {
  markup.open("section").leaf("h2", {}, "What was run");
  markup.open("dl", {{"class", "facts"}});
  write_fact(markup, "Job", report.job);
  write_fact(markup, "Command", report.command, "code");
  write_fact(markup, "Injected", injected_text(report, figures));
  write_fact(markup, "Began", date_text(report.began));
  write_fact(markup, "outlast", report.version);
  write_fact(markup, "To repeat it", repeat_command(report, figures), "code");
  markup.close().close();
}

}  // namespace outlast::report
