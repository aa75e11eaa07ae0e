#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/attempts.h"
#include "agent/beat.h"
#include "agent/job_look.h"
#include "agent/root_layout.h"
#include "base/encoding.h"
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
#include "job/log_entry.h"
#include "store/object_store.h"

namespace outlast::cli {
namespace {

// A fence now would take the last save from an attempt that is about to make it.
Result<void> refuse_if_alive(const OpenJob& job, const agent::JobLook& look) {
  const agent::Beat* beat = agent::live_beat(look);
  if (beat == nullptr) return {};
  const std::string where = fmt::format("attempt {} on {}, heard of {}", beat->epoch,
                                        printable(beat->agent.host), format_ago(look.beat_age));
  return Error(look.ending ? ErrorCode::kUnavailable : ErrorCode::kFailed,
               look.ending ? fmt::format("{} is still being left by {}; try again when it has "
                                         "saved",
                                         job.name(), where)
                           : fmt::format("{} is running: {}; there is nothing to resume",
                                         job.name(), where));
}

// The last beat may tell of the ending, and is believed where the log is not read: it must no
// longer do so once the job goes on. Before the fence, so that it is right whenever we are killed.
Result<void> take_back_ending(OpenJob& job, agent::JobLook look) {
  if (!look.beat || look.beat->state != agent::AgentState::kEnded) return {};
  look.beat->outcome = agent::AttemptOutcome::kLeft;
  OUTLAST_TRY(job.root->put(agent::beat_key(job.checkpoints->job()),
                            as_bytes(agent::encode_beat(*look.beat)), store::WriteIf::always(),
                            {}));
  return {};
}

Result<ExitCode> run_resume(const Invocation& invocation, Context& context) {
  OUTLAST_TRY_ASSIGN(OpenJob job, open_desk_job(invocation, context.world));
  checkpoint::CommitLog& log = job.checkpoints->log();
  OUTLAST_TRY_ASSIGN(const agent::JobLook look,
                     agent::look_at_job(look_parts(*job.root, context.world),
                                        job.checkpoints->job(), log.history(), {}));
  OUTLAST_TRY(refuse_if_alive(job, look));
  OUTLAST_TRY_ASSIGN(const std::vector<job::Epoch> epochs,
                     agent::list_attempts(job.checkpoints->store(), {}));
  OUTLAST_TRY_ASSIGN(const agent::AttemptRecord record,
                     newest_record(job.checkpoints->store(), epochs));
  const bool had_ended = look.ending.has_value();
  if (had_ended) {
    OUTLAST_TRY(take_back_ending(job, look));
    OUTLAST_TRY(log.take_over("resume", {}));
  }
  const std::string run = run_command_text(invocation, job.checkpoints->job(), record);
  if (context.terminal.json()) {
    context.terminal.print_json({{"job", job.checkpoints->job()},
                                 {"changed", had_ended},
                                 {"was", agent::to_string(agent::judge(look))},
                                 {"run", run}});
    return ExitCode::kOk;
  }
  context.terminal.print(
      had_ended ? fmt::format("{} was {} and can be run again\n", job.name(),
                              agent::to_string(agent::judge(look)))
                : fmt::format("{} has not ended and nobody runs it: nothing is needed to go on\n",
                              job.name()));
  context.terminal.note("go on with it: " + run);
  return ExitCode::kOk;
}

}  // namespace

CommandSpec resume_command() {
  return {
      .path = {"resume"},
      .group = "Jobs",
      .summary = "Make a job that has ended one that can be run again",
      .description =
          {"A job that is done, has failed or was cancelled is not run again by mistake: 'outlast "
           "run' refuses it. This writes into its log that it goes on, from its newest checkpoint, "
           "and prints the command that does so. It starts nothing itself.",
           "A job that is running is refused. One that has not ended and that nobody runs needs no "
           "resume; then it only prints the command."},
      .positionals = {desk_job_positional()},
      .options = with_desk_root({}),
      .examples = {{.command = "outlast resume j1", .does = "Go on with a cancelled job"}},
      .run = run_resume,
  };
}

}  // namespace outlast::cli
