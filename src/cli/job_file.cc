#include "cli/job_file.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/ckpt_access.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/spec.h"
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

}  // namespace

std::optional<job::SpecReading> read_job_file(const std::string& file, const Context& context) {
  const Result<std::string> text =
      sys::read_file(context.world.files, file == "-" ? "/dev/stdin" : file, kJobFileBytesMax);
  if (!text) {
    context.terminal.error(cannot_read(file, text.error()));
    return std::nullopt;
  }
  job::SpecReading reading = job::read_spec(*text);
  if (reading.spec) return reading;
  report_mistakes(file, reading, context.terminal);
  return std::nullopt;
}

JobArgument read_job_argument(const Invocation& invocation, const Context& context) {
  JobArgument argument;
  if (invocation.positionals.empty()) return argument;
  const std::string& file = invocation.positionals.front();
  if (!file.ends_with(".yaml") && !file.ends_with(".yml")) {
    argument.refused =
        wrong_value(invocation, context,
                    fmt::format("'{}' is no job file (.yaml); a command comes after '--': "
                                "outlast {} -- {}",
                                printable(file), invocation.command->name(), printable(file)));
    return argument;
  }
  argument.reading = read_job_file(file, context);
  if (!argument.reading) argument.refused = ExitCode::kBadInput;
  return argument;
}

}  // namespace outlast::cli
