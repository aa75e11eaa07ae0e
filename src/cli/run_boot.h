#pragma once

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/run_plan.h"

namespace outlast::cli {

// --install-boot: the same command line, without that flag, at every boot.
Result<ExitCode> install_boot(const Invocation& invocation, const RunPlan& plan,
                              const Context& context);
// --remove-boot.
Result<ExitCode> remove_boot(const RunPlan& plan, const Context& context);

}  // namespace outlast::cli
