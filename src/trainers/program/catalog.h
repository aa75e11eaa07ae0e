#pragma once

#include <span>
#include <string_view>

#include "cli/program/catalog.h"

namespace outlast::trainers {

// Everything that 'outlast-train' can do by itself.
cli::Catalog make_catalog();

// The tasks that 'outlast-train-torch' does for it: they stand in the catalog, too, and say there
// what is missing if it is.
std::span<const std::string_view> torch_tasks();

}  // namespace outlast::trainers
