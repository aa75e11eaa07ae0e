#pragma once

#include "cli/program/command_spec.h"

namespace outlast::trainers {

// `outlast-train bert`: puts texts into classes.
cli::CommandSpec bert_command();

}  // namespace outlast::trainers
