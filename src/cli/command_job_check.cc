#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/command_line.h"
#include "cli/command_spec.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/text_layout.h"
#include "job/spec.h"
#include "job/spec_json.h"
#include "job/spec_text.h"
#include "sys/file_ops.h"

namespace outlast::cli {
namespace {

constexpr std::uint64_t kJobFileBytesMax = 1U << 20U;

// What kept us from the file, as one sentence that helps.
Error cannot_read(const std::string& file, const Error& error) {
  if (error.code() == ErrorCode::kNotFound) {
    return {error.code(), fmt::format("there is no file '{}'; give the path of a job file, such as "
                                      "job.yaml",
                                      printable(file))};
  }
  if (error.code() == ErrorCode::kInvalidArgument) {
    return {error.code(), error.to_string() + ": that is no job file"};
  }
  return error.while_doing("cannot read the job file");
}

std::string count_of_mistakes(std::size_t count, const std::string& file) {
  return fmt::format("{} {} in {}", count, count == 1 ? "mistake" : "mistakes", printable(file));
}

Json mistakes_json(const job::SpecReading& reading) {
  Json mistakes = Json::array();
  for (const job::Diagnostic& diagnostic : reading.diagnostics) {
    mistakes.push_back({{"line", diagnostic.position.line},
                        {"column", diagnostic.position.column},
                        {"key", diagnostic.key},
                        {"message", diagnostic.message}});
  }
  return mistakes;
}

void report_mistakes(const std::string& file, const job::SpecReading& reading,
                     const Terminal& terminal) {
  const std::string count = count_of_mistakes(reading.diagnostics.size() + reading.more, file);
  if (terminal.json()) {
    terminal.print_json(Json{{"error", {{"code", "bad job file"}, {"message", count}}},
                             {"file", file},
                             {"mistakes", mistakes_json(reading)},
                             {"more_mistakes", reading.more}});
    return;
  }
  terminal.complain(job::format_diagnostics(file, reading));
  terminal.note(count);
}

Result<ExitCode> run_job_check(const Invocation& invocation, Context& context) {
  const Terminal& terminal = context.terminal;
  const std::string& file = invocation.positionals[0];
  const Result<std::string> text =
      sys::read_file(context.world.files, file == "-" ? "/dev/stdin" : file, kJobFileBytesMax);
  if (!text) {
    terminal.error(cannot_read(file, text.error()));
    return ExitCode::kBadInput;
  }
  const job::SpecReading reading = job::read_spec(*text);
  if (!reading.spec) {
    report_mistakes(file, reading, terminal);
    return ExitCode::kBadInput;
  }
  if (terminal.json()) {
    terminal.print_json(job::to_json(*reading.spec));
  } else {
    terminal.print(job::spec_text(*reading.spec, reading.defaulted));
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
