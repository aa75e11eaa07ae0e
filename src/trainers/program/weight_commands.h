#pragma once

#include "cli/program/command_spec.h"

namespace outlast::trainers {

// 'outlast-train export': a model in another's format.
cli::CommandSpec export_command();
// 'outlast-train import': another's weights in ours.
cli::CommandSpec import_command();

}  // namespace outlast::trainers
