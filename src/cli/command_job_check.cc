#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/job_file.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "job/spec.h"
#include "job/spec_json.h"
#include "job/spec_text.h"

namespace outlast::cli {
namespace {

Result<ExitCode> run_job_check(const Invocation& invocation, Context& context) {
  const Terminal& terminal = context.terminal;
  const std::string& file = invocation.positionals[0];
  const std::optional<job::SpecReading> reading = read_job_file(file, context);
  if (!reading || !reading->spec) return ExitCode::kBadInput;
  if (terminal.json()) {
    terminal.print_json(job::to_json(*reading->spec));
  } else {
    terminal.print(job::spec_text(*reading->spec, reading->defaulted));
  }
  return ExitCode::kOk;
}

}  // namespace

CommandSpec job_check_command() {
  return {
      .path = {"job", "check"},
      .group = "Jobs",
      .summary = "Show a job as it will run, or every mistake in its file",
      .description =
          {"Reads a job file and prints the complete job, with every default filled in and marked. "
           "What it prints is itself a job file. With --json it prints the form that outlast "
           "stores.",
           "A file with mistakes gives one line for each, 'file:line:column: what is wrong', on "
           "standard error and exit code 3. With --json the mistakes are a list in the object on "
           "standard output.",
           "Nothing is started, and nothing but the file is read."},
      .positionals = {{.name = "JOB.yaml",
                       .help = "The job file, of at most 1 MiB; - reads standard input",
                       .completes = Completes::kFiles}},
      .examples = {{.command = "outlast job check job.yaml", .does = "See what a job will do"},
                   {.command = "outlast job check --json job.yaml | jq .places",
                    .does = "Use the checked job in a script"}},
      .run = run_job_check,
  };
}

}  // namespace outlast::cli
