#include <nlohmann/json.hpp>  // IWYU pragma: keep

#include "base/result.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "job/schema.h"

namespace outlast::cli {
namespace {

Result<ExitCode> run_job_schema(const Invocation&, Context& context) {
  context.terminal.print_json(job::json_schema());
  return ExitCode::kOk;
}

}  // namespace

CommandSpec job_schema_command() {
  return {
      .path = {"job", "schema"},
      .group = "Jobs",
      .summary = "Print the JSON Schema of job files, for editors",
      .description =
          {"An editor that knows the schema completes keys and underlines mistakes while you type. "
           "'outlast job check' sees more mistakes than a schema can describe.",
           "For VS Code with its YAML extension, save the schema beside the job file and make this "
           "the file's first line: # yaml-language-server: $schema=job.schema.json"},
      .examples = {{.command = "outlast job schema > job.schema.json",
                    .does = "Save the schema where the editor finds it"}},
      .run = run_job_schema,
  };
}

}  // namespace outlast::cli
