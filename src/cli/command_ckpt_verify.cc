#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "checkpoint/verify.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"

namespace outlast::cli {
namespace {

using checkpoint::VerifyReport;

std::string verify_progress_text(const checkpoint::VerifyProgress& now) {
  return fmt::format("{} of {} objects, {} read", now.objects_done, now.objects,
                     format_bytes_short(now.bytes_done));
}

std::string finding_line(const checkpoint::Finding& finding, const Terminal& terminal) {
  std::string line =
      fmt::format("{}  {}: {}",
                  finding.is_damage ? terminal.paint(Colour::kRed, "damage")
                                    : terminal.paint(Colour::kYellow, "note") + "  ",
                  printable_whole(finding.object), printable_whole(finding.sentence));
  if (!finding.checkpoints.empty()) {
    line += fmt::format("; not restorable because of it: {}", format_seqs(finding.checkpoints));
  }
  return line + "\n";
}

// What it means for the one who needs a checkpoint.
std::string verdict(const VerifyReport& report, const OpenJob& job, bool full) {
  std::string text;
  if (!report.good.empty()) {
    text += fmt::format("{} {} good{}: {}\n", report.good.size(),
                        report.good.size() == 1 ? "checkpoint is" : "checkpoints are",
                        full ? "" : ", as far as can be said without reading every byte (--full)",
                        format_seqs(report.good));
  }
  if (!report.damaged.empty()) {
    text += fmt::format(
        "{} {} damaged: {}; a restore takes {}\n", report.damaged.size(),
        report.damaged.size() == 1 ? "checkpoint is" : "checkpoints are",
        format_seqs(report.damaged),
        report.good.empty()
            ? "none, because there is no other"
            : fmt::format("{}{}", report.good.back(),
                          report.damaged.back() > report.good.back() ? " instead" : ""));
  }
  if (text.empty()) text = fmt::format("{} has no checkpoint\n", job.name());
  return text;
}

Json report_json(const VerifyReport& report) {
  Json findings = Json::array();
  for (const checkpoint::Finding& finding : report.findings) {
    findings.push_back({{"damage", finding.is_damage},
                        {"object", finding.object},
                        {"words", finding.sentence},
                        {"checkpoints", finding.checkpoints}});
  }
  return {{"damage", report.has_damage()},
          {"good", report.good},
          {"damaged", report.damaged},
          {"findings", findings},
          {"objects", report.totals.objects_done},
          {"bytes", report.totals.bytes_done}};
}

Result<ExitCode> run_ckpt_verify(const Invocation& invocation, Context& context) {
  const Terminal& terminal = context.terminal;
  const bool full = invocation.flag("full");
  OUTLAST_TRY_ASSIGN(const OpenJob job, open_job(invocation, context.world));
  SharedProgressLine progress(terminal, context.world.clock);
  const Result<VerifyReport> report =
      job.checkpoints->verify({.full = full,
                               .watch =
                                   [&](const checkpoint::VerifyProgress& now) {
                                     progress.update(verify_progress_text(now));
                                   }},
                              {});
  progress.clear();
  if (!report) return report.error().while_doing(fmt::format("verify {}", job.name()));
  if (terminal.json()) {
    terminal.print_json(report_json(*report));
  } else {
    for (const checkpoint::Finding& finding : report->findings) {
      terminal.print(finding_line(finding, terminal));
    }
    terminal.print(verdict(*report, job, full));
  }
  return report->has_damage() ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

CommandSpec ckpt_verify_command() {
  return {
      .path = {"ckpt", "verify"},
      .group = "Checkpoints",
      .summary = "Look whether checkpoints can be restored",
      .description =
          {"Looks at the job's log, and whether everything that its checkpoints need is there and "
           "as large as it should be. With --full every byte is read and compared with the hash "
           "that it was stored under. Says what is damaged, and which checkpoints that costs. "
           "Nothing is changed.",
           "Exit code 0: no damage was found. 1: something is damaged. A 'note' is odd and harms "
           "nothing."},
      .options = with_job_options({{.name = "full", .help = "read every byte"}}),
      .examples = {{.command = "outlast ckpt verify --root s3://my-bucket/training --job j1",
                    .does = "A quick look"},
                   {.command = "outlast ckpt verify --full --root /mnt/r --job j1",
                    .does = "Read everything"}},
      .run = run_ckpt_verify,
  };
}

}  // namespace outlast::cli
