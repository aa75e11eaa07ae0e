#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>

#include "agent/attempts.h"
#include "agent/event.h"
#include "agent/root_layout.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/attempt_follow.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/desk.h"
#include "cli/event_text.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "job/log_entry.h"

namespace outlast::cli {
namespace {

void print_event(const agent::AttemptEvent& one, const Terminal& terminal) {
  if (!terminal.json()) {
    terminal.print(event_text(one, terminal) + "\n");
    return;
  }
  terminal.print(canonical_json(event_json(one)) + "\n");
}

Result<ExitCode> run_events(const Invocation& invocation, Context& context) {
  const FollowPlan plan = {.prefix = &agent::events_prefix,
                           .only = invocation.number("attempt"),
                           .all = true,
                           .follow = invocation.flag("follow")};
  OUTLAST_TRY_ASSIGN(OpenJob job, open_desk_job(invocation, context.world));
  std::string text;
  bool is_empty = true;
  const auto take = [&](job::Epoch epoch, std::string_view piece) {
    text += piece;
    for (const std::string& line : agent::take_lines(text)) {
      const Result<agent::Event> event = agent::decode_event(line);
      is_empty = false;
      if (event) {
        print_event({.epoch = epoch, .event = *event}, context.terminal);
      } else {
        context.terminal.warn(fmt::format("attempt {}: {}", epoch, event.error().to_string()));
      }
    }
  };
  // A line that was cut short tells nothing.
  const FollowSink sink = {.begin = [&](job::Epoch) { text.clear(); }, .piece = take};
  OUTLAST_TRY(follow_attempts(plan, job, context, sink));
  if (is_empty) context.terminal.note("no events so far");
  context.terminal.note("how it stands: " +
                        desk_command(invocation, "status", job.checkpoints->job()));
  return ExitCode::kOk;
}

}  // namespace

CommandSpec events_command() {
  return {
      .path = {"events"},
      .group = "Jobs",
      .summary = "Show what happened to a job",
      .description =
          {"Prints a line for each thing that happened to the job's attempts, in order: begun, "
           "restored, saved, a notice, left, and so on.",
           "With --json each line is an object with 'time', 'attempt', 'level' (note, good, "
           "warning or bad), 'event' (a word), 'text' (the sentence) and what else is known."},
      .positionals = {desk_job_positional()},
      .options = with_desk_root({follow_option(), attempt_option("all")}),
      .examples = {{.command = "outlast events j1", .does = "What has become of it"},
                   {.command = "outlast events j1 -f --json | jq -r 'select(.level == \"bad\") "
                               "| .text'",
                    .does = "Wait for bad news, in a script"}},
      .run = run_events,
  };
}

}  // namespace outlast::cli
