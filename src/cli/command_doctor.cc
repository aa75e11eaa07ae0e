#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"

namespace outlast::cli {
namespace {

constexpr std::size_t kFindingColumn = 17;

struct Mark {
  std::string_view utf8;
  std::string_view ascii;
  Colour colour;
};

Mark mark_of(Health health) {
  switch (health) {
    case Health::kOk:
      return {"✓", "+", Colour::kGreen};
    case Health::kNote:
      return {"–", "-", Colour::kDim};
    case Health::kWarning:
      return {"!", "!", Colour::kYellow};
    case Health::kFailure:
      return {"✗", "x", Colour::kRed};
  }
  return {"?", "?", Colour::kRed};
}

std::string finding_text(const Finding& finding, const Terminal& terminal) {
  const Mark mark = mark_of(finding.health);
  // Laid out without the mark, because its colour would count as width.
  std::string text = definition(finding.name, finding.finding, 2, kFindingColumn).substr(1);
  if (!finding.advice.empty()) text += paragraph(finding.advice, kFindingColumn);
  return terminal.paint(mark.colour, terminal.utf8() ? mark.utf8 : mark.ascii) + text;
}

std::size_t count_of(const std::vector<Finding>& findings, Health health) {
  return static_cast<std::size_t>(std::ranges::count(findings, health, &Finding::health));
}

std::string conclusion(const std::vector<Finding>& findings) {
  const std::size_t failures = count_of(findings, Health::kFailure);
  const std::size_t warnings = count_of(findings, Health::kWarning);
  const auto things = [](std::size_t n) { return n == 1 ? "thing" : "things"; };
  if (failures > 0) {
    return fmt::format("outlast cannot be used here until {} {} {} put right.", failures,
                       things(failures), failures == 1 ? "is" : "are");
  }
  if (warnings > 0) {
    return fmt::format("outlast works here; {} {} could be better.", warnings, things(warnings));
  }
  return "outlast works here.";
}

Json findings_json(const std::vector<Finding>& findings) {
  Json checks = Json::array();
  for (const Finding& finding : findings) {
    checks.push_back({{"name", finding.name},
                      {"status", to_string(finding.health)},
                      {"finding", finding.finding},
                      {"advice", finding.advice}});
  }
  return {{"checks", checks},
          {"usable", count_of(findings, Health::kFailure) == 0},
          {"warnings", count_of(findings, Health::kWarning)}};
}

Result<ExitCode> run_doctor(const Invocation&, Context& context) {
  const Terminal& terminal = context.terminal;
  const std::vector<Finding> findings = examine(context.world, {});
  if (terminal.json()) {
    terminal.print_json(findings_json(findings));
  } else {
    std::string text;
    for (const Finding& finding : findings) text += finding_text(finding, terminal);
    terminal.print(text + "\n" + conclusion(findings) + "\n");
  }
  return count_of(findings, Health::kFailure) == 0 ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace

CommandSpec doctor_command() {
  return {
      .path = {"doctor"},
      .group = "This machine",
      .summary = "Say what works here, and what to do about what does not",
      .description =
          {"Looks at the system, memory, disk, huge pages and clock, at the tools in PATH, whether "
           "CRIU can freeze processes here, and which cloud credentials exist.",
           "Credentials are reported by the name of their variable or file; no value is read or "
           "shown. Nothing is changed.",
           "The exit code is 0 unless something makes outlast unusable here."},
      .examples = {{.command = "outlast doctor", .does = "Examine this machine"},
                   {.command = "outlast doctor --json | jq '.checks[] | select(.status != \"ok\")'",
                    .does = "Only what is not perfect, for a script"}},
      .run = run_doctor,
  };
}

}  // namespace outlast::cli
