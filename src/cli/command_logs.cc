#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>

#include "agent/attempt_record.h"
#include "agent/attempts.h"
#include "agent/root_layout.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/attempt_follow.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/desk.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"

namespace outlast::cli {
namespace {

// What trainers printed, as it was, or each line as JSON. Confined to its owner.
class PrintedSink {
 public:
  PrintedSink(OpenJob& job, const Terminal& terminal, bool separate)
      : job_(job), terminal_(terminal), separate_(separate) {}

  void begin(job::Epoch epoch) {
    finish();
    if (!terminal_.json() && (separate_ || epoch_ != 0)) terminal_.print(separator(epoch));
    epoch_ = epoch;
  }

  void take(std::string_view piece) {
    is_empty_ = false;
    if (!terminal_.json()) {
      terminal_.print(piece);
      in_line_ = !piece.ends_with('\n');
      return;
    }
    line_ += piece;
    for (const std::string& line : agent::take_lines(line_)) print_line(line);
  }

  // Ends a line that was cut short.
  void finish() {
    if (!line_.empty()) print_line(line_);
    line_.clear();
    if (in_line_) terminal_.print("\n");
    in_line_ = false;
  }

  bool is_empty() const { return is_empty_; }
  job::Epoch epoch() const { return epoch_; }

 private:
  void print_line(const std::string& line) const {
    terminal_.print(canonical_json({{"attempt", epoch_}, {"line", line}}) + "\n");
  }

  std::string separator(job::Epoch epoch) const {
    const Result<agent::AttemptRecord> record =
        agent::read_attempt(job_.checkpoints->store(), epoch, {});
    const std::string where = record
                                  ? fmt::format(", on {} since {}", printable(record->agent.host),
                                                format_time(record->began))
                                  : "";
    return terminal_.paint(Colour::kBold, fmt::format("==== attempt {}{} ====", epoch, where)) +
           "\n";
  }

  OpenJob& job_;
  const Terminal& terminal_;
  const bool separate_;
  job::Epoch epoch_ = 0;  // 0: none yet
  bool is_empty_ = true;
  bool in_line_ = false;
  std::string line_;  // JSON: what came of it so far
};

Result<ExitCode> run_logs(const Invocation& invocation, Context& context) {
  const FollowPlan plan = {.prefix = &agent::printed_prefix,
                           .only = invocation.number("attempt"),
                           .all = invocation.flag("all"),
                           .follow = invocation.flag("follow")};
  if (plan.only && plan.all) {
    return wrong_value(invocation, context, "--attempt and --all exclude each other");
  }
  OUTLAST_TRY_ASSIGN(OpenJob job, open_desk_job(invocation, context.world));
  PrintedSink printed(job, context.terminal, plan.all);
  const FollowSink sink = {
      .begin = [&](job::Epoch epoch) { printed.begin(epoch); },
      .piece = [&](job::Epoch, std::string_view piece) { printed.take(piece); }};
  const Result<void> done = follow_attempts(plan, job, context, sink);
  printed.finish();
  OUTLAST_TRY(done);
  if (printed.is_empty()) {
    context.terminal.note(fmt::format("attempt {} has printed nothing so far", printed.epoch()));
  }
  const std::string& name = job.checkpoints->job();
  context.terminal.note(
      plan.follow ? "how it ended: " + desk_command(invocation, "status", name)
                  : "see more as it comes: " + desk_command(invocation, "logs", name) + " -f");
  return ExitCode::kOk;
}

}  // namespace

CommandSpec logs_command() {
  return {
      .path = {"logs"},
      .group = "Jobs",
      .summary = "Show what a job's trainer printed",
      .description =
          {"Prints what the trainer printed, to standard output and standard error alike, in the "
           "newest attempt, in one, or in all of them with a line before each. It is in the root: "
           "the machine may be long gone.",
           "With --json each line is an object with 'attempt' and 'line'."},
      .positionals = {desk_job_positional()},
      .options = with_desk_root({follow_option(),
                                 attempt_option("the newest"),
                                 {.name = "all", .help = "all attempts, from the first on"}}),
      .examples = {{.command = "outlast logs j1 -f", .does = "Watch it train"},
                   {.command = "outlast logs j1 --root s3://my-bucket/training --attempt 3",
                    .does = "See how the third attempt died"}},
      .run = run_logs,
  };
}

}  // namespace outlast::cli
