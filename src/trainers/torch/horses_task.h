#pragma once

#include "cli/program/command_spec.h"

namespace outlast::trainers {

// `horses`: a MobileNetV3-Small learns two classes of pictures, as horses or humans, from new
// weights, and leaves a model behind every five epochs.
cli::CommandSpec horses_command();

}  // namespace outlast::trainers
