#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/catalog.h"
#include "cli/exit_code.h"
#include "sys/world.h"

namespace outlast::cli {

// The program's version: "0.1.0".
std::string_view version();

// The whole program after main(): reads the arguments (argv without the program's name), runs the
// command, prints, and says how it ended. Output that nobody took (a full disk) makes it fail.
ExitCode run(std::span<const std::string> arguments, sys::World& world);

// The same with other commands than ours.
ExitCode run(const Catalog& catalog, std::span<const std::string> arguments, sys::World& world);

}  // namespace outlast::cli
