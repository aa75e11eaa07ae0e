#pragma once

#include <optional>
#include <string>

#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "job/spec.h"

namespace outlast::cli {

// The job in `file`; "-" is standard input. Nothing, if there is none without mistakes: then the
// user has been told, and the exit code is kBadInput.
std::optional<job::SpecReading> read_job_file(const std::string& file, const Context& context);

// The job file that a command was given as its only word, if it was given one.
struct JobArgument {
  std::optional<job::SpecReading> reading = {};
  std::optional<ExitCode> refused = {};  // it is none, or has mistakes: the user has been told
};
JobArgument read_job_argument(const Invocation& invocation, const Context& context);

}  // namespace outlast::cli
