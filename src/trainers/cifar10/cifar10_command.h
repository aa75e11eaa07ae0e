#pragma once

#include "cli/program/command_spec.h"

namespace outlast::trainers {

// 'outlast-train cifar10'.
cli::CommandSpec cifar10_command();

}  // namespace outlast::trainers
