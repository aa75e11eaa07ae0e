#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <vector>

#include "agent/beat.h"
#include "agent/job_look.h"
#include "base/json.h"
#include "base/result.h"
#include "base/shell_word.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/desk.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/progress_reader.h"
#include "store/object_store.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

std::string step_cell(const job::Progress& progress) {
  if (!progress.step) return "-";
  return progress.total ? fmt::format("{}/{}", *progress.step, *progress.total)
                        : fmt::format("{}", *progress.step);
}

std::string checkpoint_cell(const std::optional<agent::Beat::Committed>& checkpoint,
                            sys::World& world) {
  if (!checkpoint) return "-";
  const std::string step = checkpoint->step ? fmt::format(" at step {}", *checkpoint->step) : "";
  return fmt::format("{}{}, {}", checkpoint->seq, step,
                     format_ago(age_of(checkpoint->time, world)));
}

std::vector<std::string> job_row(const agent::JobLook& look, sys::World& world) {
  std::vector<std::string> row = {look.job, std::string(agent::to_string(agent::judge(look)))};
  const std::string checkpoint = checkpoint_cell(look.checkpoint, world);
  if (!look.beat) {
    row.insert(row.end(), {"-", "-", checkpoint, "-", "-", "-"});
    return row;
  }
  const agent::Beat& beat = *look.beat;
  // How fast it was once is of no use.
  const bool has_rate = beat.progress.rate && agent::is_alive(look);
  row.insert(row.end(), {step_cell(beat.progress),
                         has_rate ? fmt::format("{:.3g}/s", *beat.progress.rate) : "-", checkpoint,
                         fmt::format("{}", beat.epoch), printable(beat.agent.host),
                         format_ago(heard_ago(look, world))});
  return row;
}

Result<ExitCode> run_ls(const Invocation& invocation, Context& context) {
  const std::string root_url = desk_root(invocation);
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<store::ObjectStore> root,
                     open_root(root_url, context.world));
  OUTLAST_TRY_ASSIGN(const std::vector<agent::JobLook> looks,
                     agent::look_at_jobs(look_parts(*root, context.world), {}));
  if (context.terminal.json()) {
    Json jobs = Json::array();
    for (const agent::JobLook& look : looks) jobs.push_back(look_json(look));
    context.terminal.print_json({{"root", root_url}, {"jobs", jobs}});
    return ExitCode::kOk;
  }
  for (const agent::JobLook& look : looks) {
    if (look.unreadable.empty()) continue;
    context.terminal.warn(fmt::format("job '{}': {}", look.job, printable_whole(look.unreadable)));
  }
  if (looks.empty()) {
    context.terminal.note(
        fmt::format("no jobs in {} yet; start one: outlast run --root {} -- "
                    "COMMAND",
                    printable(root_url), shell_word(root_url)));
    return ExitCode::kOk;
  }
  std::vector<std::vector<std::string>> rows = {
      {"job", "state", "step", "rate", "checkpoint", "attempt", "host", "heard of"}};
  for (const agent::JobLook& look : looks) rows.push_back(job_row(look, context.world));
  context.terminal.print(table(rows, {false, false, true, true, false, true, false, false}));
  context.terminal.note("look closer: " + desk_command(invocation, "status", looks.front().job));
  return ExitCode::kOk;
}

}  // namespace

CommandSpec ls_command() {
  return {
      .path = {"ls"},
      .group = "Jobs",
      .summary = "List the jobs of a root and how they stand",
      .description =
          {"Prints a line for each job: its state, the step and the rate that the trainer told of, "
           "the newest checkpoint, the attempt, the machine that it is or was on, and when that "
           "was last heard of.",
           "A job is starting, restoring, training, waiting or leaving as long as its attempt is "
           "heard of; vanished if it no longer is and did not say why; left, to be resumed; done, "
           "failed or cancelled. A job that was never run, but has checkpoints, has only "
           "checkpoints.",
           "It asks the root alone, no machine. It is fast also for a thousand jobs."},
      .options = with_desk_root({}),
      .examples = {{.command = "outlast ls", .does = "What is trained here"},
                   {.command =
                        "outlast ls --json | jq '.jobs[] | select(.state == \"vanished\").job'",
                    .does = "Find what has to be resumed, in a script"}},
      .run = run_ls,
  };
}

}  // namespace outlast::cli
