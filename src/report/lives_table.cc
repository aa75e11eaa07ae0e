#include "report/lives_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "drill/report.h"
#include "report/markup.h"
#include "report/wording.h"

namespace outlast::report {
namespace {

constexpr std::string_view kNumber = "Machine";
constexpr std::string_view kHappened = "What happened";
constexpr std::string_view kHeard = "Heard → asked → committed";
constexpr std::string_view kRecovery = "Back to training";
constexpr std::string_view kLost = "Lost";
constexpr std::string_view kSteps = "Steps";
constexpr std::string_view kBytes = "Stored";
constexpr std::array kColumns = {kNumber, kHappened, kHeard, kRecovery, kLost, kSteps, kBytes};

// Roles are written out: a style that makes cards of rows takes the table's own away.
void open_cell(Markup& markup, std::string_view heading, bool is_known = true) {
  markup.open("td", {{"role", "cell"},
                     {"class", is_known ? "known" : "unknown"},
                     {"data-heading", std::string(heading)}});
}

void write_cell(Markup& markup, std::string_view heading, std::string_view text) {
  open_cell(markup, heading, text != kUnknown);
  markup.text(text).close();
}

void write_line(Markup& markup, std::string_view text, std::string_view note = {}) {
  markup.open("div").text(text);
  if (!note.empty()) markup.text(" ").leaf("span", {{"class", "note"}}, note);
  markup.close();
}

std::string after(const std::optional<double>& moment, double from) {
  return moment ? seconds_text(*moment - from) : std::string(kUnknown);
}

std::string chain_text(const drill::Injection& injection) {
  const bool was_safe = injection.notice_to_committed == 0.0;
  return fmt::format("{} → {} → {}", after(injection.heard, injection.at),
                     after(injection.asked, injection.at),
                     was_safe ? "safe already" : after(injection.committed, injection.at));
}

void write_happened(Markup& markup, const drill::Life& life) {
  open_cell(markup, kHappened);
  markup.open("div");
  for (const drill::Injection& injection : life.injections) {
    write_line(markup, trouble_text(injection), "at " + seconds_text(injection.at));
  }
  if (life.outcome == "done") {
    write_line(markup, "done", "at " + seconds_text(life.left.value_or(life.ended)));
  } else if (life.injections.empty() || (life.outcome != "left" && life.outcome != "gone")) {
    markup.leaf("div", {{"class", "foreign"}},
                life.outcome.empty() ? kUnknown : std::string_view(life.outcome));
  }
  markup.close().close();
}

void write_chain(Markup& markup, const drill::Life& life) {
  const bool is_known =
      std::any_of(life.injections.begin(), life.injections.end(),
                  [](const drill::Injection& injection) { return is_said(injection.trouble); });
  if (!is_known) return write_cell(markup, kHeard, kUnknown);
  open_cell(markup, kHeard);
  markup.open("div");
  for (const drill::Injection& injection : life.injections) {
    if (is_said(injection.trouble)) write_line(markup, chain_text(injection));
  }
  markup.close().close();
}

void write_steps(Markup& markup, const drill::Life& life) {
  open_cell(markup, kSteps);
  markup.open("div");
  const auto step = [](const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : std::string(kUnknown);
  };
  if (life.first_step || life.last_step) {
    write_line(markup, step(life.first_step) + " to " + step(life.last_step));
  } else if (!life.restored) {
    write_line(markup, kUnknown);
  }
  if (life.restored) {
    write_line(markup, "",
               fmt::format("from {}", state_text(life.restored->checkpoint, life.restored->step)));
  }
  markup.close().close();
}

void write_bytes(Markup& markup, const drill::Life& life) {
  std::uint64_t stored = 0;
  for (const drill::Save& save : life.saves) stored += save.stored_bytes;
  std::string note = count_text(life.saves.size(), "save");
  if (life.restored) {
    note += ", " + format_bytes_short(life.restored->fetched_bytes) + " fetched";
  }
  open_cell(markup, kBytes);
  markup.open("div");
  write_line(markup, format_bytes_short(stored));
  write_line(markup, "", note);
  markup.close().close();
}

void write_row(Markup& markup, const drill::Life& life) {
  markup.open("tr", {{"role", "row"}});
  markup.leaf("th",
              {{"scope", "row"}, {"role", "rowheader"}, {"data-heading", std::string(kNumber)}},
              std::to_string(life.number));
  write_happened(markup, life);
  write_chain(markup, life);
  write_cell(markup, kRecovery, seconds_text(life.recovery));
  write_cell(markup, kLost, lost_text(life.lost_steps, life.lost_seconds));
  write_steps(markup, life);
  write_bytes(markup, life);
  markup.close();
}

}  // namespace

void write_lives_table(Markup& markup, const drill::Run& run) {
  markup.open("table", {{"class", "lives"}, {"role", "table"}});
  markup.leaf(
      "caption", {},
      "Heard, asked and committed are counted from the notice; back to training from the last "
      "commit, or from the end of a machine that was killed.");
  markup.open("thead", {{"role", "rowgroup"}}).open("tr", {{"role", "row"}});
  for (const std::string_view column : kColumns) {
    markup.leaf("th", {{"scope", "col"}, {"role", "columnheader"}}, column);
  }
  markup.close().close().open("tbody", {{"role", "rowgroup"}});
  for (const drill::Life& life : run.lives) write_row(markup, life);
  markup.close().close();
}

}  // namespace outlast::report
