#pragma once

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"

namespace outlast::trainers {

// `bert`: a BERT encoder puts texts into classes.
Result<cli::ExitCode> run_bert(const cli::Invocation& invocation, cli::Context& context);

}  // namespace outlast::trainers
