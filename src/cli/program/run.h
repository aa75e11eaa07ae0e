#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/program/catalog.h"
#include "cli/program/exit_code.h"
#include "sys/world.h"

namespace outlast::cli {

// The version of everything that is built here: "0.1.0".
std::string_view version();

// A whole program after main(): reads the arguments (argv without the program's name), runs the
// command of the catalog, prints, and says how it ended. Output that nobody took (a full disk)
// makes it fail.
ExitCode run(const Catalog& catalog, std::span<const std::string> arguments, sys::World& world);

}  // namespace outlast::cli
