#pragma once

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"

namespace outlast::trainers {

// `horses`: a MobileNetV3-Small learns two classes of pictures, as horses or humans, from new
// weights, and leaves a model behind every five epochs.
Result<cli::ExitCode> run_horses(const cli::Invocation& invocation, cli::Context& context);

}  // namespace outlast::trainers
