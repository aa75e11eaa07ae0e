#pragma once

#include "cli/program/command_spec.h"

namespace outlast::trainers {

// `imagenet`: a ResNet learns the classes of pictures, from new weights or from those of others.
cli::CommandSpec imagenet_command();

}  // namespace outlast::trainers
