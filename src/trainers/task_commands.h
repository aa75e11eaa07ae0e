#pragma once

#include <cstddef>

#include "cli/program/command_spec.h"
#include "trainers/train_options.h"

// What the tasks of libtorch are called and take. Apart from what they do, so that a program
// without that library can tell of them.
namespace outlast::trainers {

inline constexpr std::size_t kHorseSide = 300;  // of --image-size by default

TaskDefaults imagenet_defaults();
TaskDefaults horses_defaults();
TaskDefaults bert_defaults();

// Each without its `run`.
cli::CommandSpec imagenet_command();
cli::CommandSpec horses_command();
cli::CommandSpec bert_command();

}  // namespace outlast::trainers
