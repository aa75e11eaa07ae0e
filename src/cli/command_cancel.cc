#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>

#include "agent/beat.h"
#include "agent/job_look.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "checkpoint/commit_log.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/desk.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/history.h"
#include "job/log_entry.h"

namespace outlast::cli {
namespace {

bool is_ending(job::EntryKind kind) {
  return kind == job::EntryKind::kDone || kind == job::EntryKind::kFailed ||
         kind == job::EntryKind::kCancelled;
}

Error has_ended(const OpenJob& job, const job::LogEntry* ending) {
  if (ending == nullptr) {
    return {ErrorCode::kFailed, fmt::format("{} has already ended", job.name())};
  }
  return {ErrorCode::kFailed,
          fmt::format("{} has already ended: {} since {}{}", job.name(),
                      job::to_string(ending->kind), format_time(ending->time),
                      ending->why.empty() ? "" : " (" + printable(ending->why) + ")")};
}

Result<ExitCode> run_cancel(const Invocation& invocation, Context& context) {
  OUTLAST_TRY_ASSIGN(OpenJob job, open_desk_job(invocation, context.world));
  checkpoint::CommitLog& log = job.checkpoints->log();
  if (log.history().ended() != 0) return has_ended(job, log.history().ending());
  const auto objection = [&](const job::LogEntry& theirs) -> Result<void> {
    if (is_ending(theirs.kind)) return has_ended(job, &theirs);
    return {};
  };
  const job::LogEntry entry = {.kind = job::EntryKind::kCancelled,
                               .why = invocation.value("why").value_or("asked")};
  OUTLAST_TRY_ASSIGN(const job::Seq seq, log.append(entry, objection, {}));
  OUTLAST_TRY_ASSIGN(const agent::JobLook look,
                     agent::look_at_job(look_parts(*job.root, context.world),
                                        job.checkpoints->job(), log.history(), {}));
  const agent::Beat* beat = agent::live_beat(look);
  if (context.terminal.json()) {
    context.terminal.print_json({{"job", job.checkpoints->job()},
                                 {"cancelled", true},
                                 {"seq", seq},
                                 {"alive", beat != nullptr}});
    return ExitCode::kOk;
  }
  std::string sentence = fmt::format("{} is cancelled", job.name());
  if (beat != nullptr) {
    sentence += fmt::format(
        "; attempt {} on {}, if it still lives, notices within about 15 s, saves and leaves",
        beat->epoch, printable(beat->agent.host));
  }
  context.terminal.print(sentence + "\n");
  context.terminal.note("to go on with it later: " +
                        desk_command(invocation, "resume", job.checkpoints->job()));
  return ExitCode::kOk;
}

}  // namespace

CommandSpec cancel_command() {
  return {
      .path = {"cancel"},
      .group = "Jobs",
      .summary = "End a job before it is done",
      .description =
          {"Writes into the job's log that it has ended. An attempt that runs, on whatever "
           "machine, notices that within about 15 s, saves and leaves; none begins any more. What "
           "was saved is kept, and 'outlast resume' makes the job one that can be run again.",
           "A job that has already ended is refused."},
      .positionals = {desk_job_positional()},
      .options = with_desk_root(
          {{.name = "why", .value_name = "TEXT", .help = "for the record (default: asked)"}}),
      .examples = {{.command = "outlast cancel j1", .does = "Stop it, wherever it runs"},
                   {.command = "outlast cancel j1 --root s3://my-bucket/training --why 'bad seed'",
                    .does = "Say why, for those who look later"}},
      .run = run_cancel,
  };
}

}  // namespace outlast::cli
