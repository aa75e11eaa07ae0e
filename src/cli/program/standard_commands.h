#pragma once

#include "cli/program/command_spec.h"

// The commands that every program has, beside its own.
namespace outlast::cli {

// 'help COMMAND': what 'COMMAND --help' prints, and everything as data or as one document.
CommandSpec help_command(const ProgramSpec& program);
// 'completion SHELL': the script that makes a shell complete the program's command lines.
CommandSpec completion_command(const ProgramSpec& program);
// '__complete': what that script asks. Hidden.
CommandSpec complete_command();

}  // namespace outlast::cli
