#pragma once

#include "cli/program/command_spec.h"

namespace outlast::trainers {

// 'outlast-train census': boosted trees on the census income data, by a search for the best
// hyper-parameters or with given ones.
cli::CommandSpec census_command();

}  // namespace outlast::trainers
