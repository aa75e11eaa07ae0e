#pragma once

#include <optional>
#include <string>

#include "cli/command_spec.h"
#include "job/spec.h"

namespace outlast::cli {

// The job in `file`; "-" is standard input. Nothing, if there is none without mistakes: then the
// user has been told, and the exit code is kBadInput.
std::optional<job::SpecReading> read_job_file(const std::string& file, const Context& context);

}  // namespace outlast::cli
