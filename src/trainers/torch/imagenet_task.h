#pragma once

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"

namespace outlast::trainers {

// `imagenet`: a ResNet learns the classes of pictures, from new weights or from those of others.
Result<cli::ExitCode> run_imagenet(const cli::Invocation& invocation, cli::Context& context);

}  // namespace outlast::trainers
