#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "cli/program/catalog.h"
#include "cli/program/terminal.h"

// What --help prints, 80 columns wide, from the specs. All but print_help() are pure.
namespace outlast::cli {

// The whole program: commands by group, common options, exit codes.
std::string program_help(const Catalog& catalog, const Terminal& terminal);
// Usage and commands only: for somebody who typed nothing.
std::string short_help(const Catalog& catalog);
// The commands of one group; `name` must be one.
std::string group_help(const Catalog& catalog, const std::string& name, const Terminal& terminal);
std::string command_help(const CommandSpec& command, const Terminal& terminal);

// Prints, as text or JSON, the help of `command`; if that is nullptr, of the group that `path`
// names, or of the program if it names none.
void print_help(const Catalog& catalog, const CommandSpec* command,
                std::span<const std::string> path, const Terminal& terminal);

// "outlast job check [OPTION]... JOB.yaml".
std::string usage_line(const CommandSpec& command);

// "-q, --quiet" or "--color WHEN".
std::string option_label(const OptionSpec& option);
// Its help, with its default if it has one: "How many (default: 3)".
std::string option_meaning(const OptionSpec& option);

// The same as data: what 'help --json' prints.
Json catalog_json(const Catalog& catalog);
Json command_json(const CommandSpec& command);

// Every command's help as one Markdown page (of outlast: docs/commands.md).
std::string commands_markdown(const Catalog& catalog);

}  // namespace outlast::cli
