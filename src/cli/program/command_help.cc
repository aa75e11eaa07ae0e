#include <fmt/core.h>

#include "base/error.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/help.h"
#include "cli/program/standard_commands.h"
#include "cli/program/terminal.h"

namespace outlast::cli {
namespace {

Result<ExitCode> run_help(const Invocation& invocation, Context& context) {
  const Terminal& terminal = context.terminal;
  if (invocation.flag("markdown")) {
    terminal.print(commands_markdown(context.catalog));
    return ExitCode::kOk;
  }
  const Result<Resolved> about = resolve_command(context.catalog, invocation.positionals);
  if (!about || !about->rest.empty()) {
    terminal.error(
        "wrong command line",
        about ? with_help_hint(fmt::format("'{}' is no command",
                                           context.catalog.full_name(invocation.positionals)),
                               context.catalog, about->path)
              : about.error().sentence());
    return ExitCode::kWrongCommandLine;
  }
  print_help(context.catalog, about->command, about->path, terminal);
  return ExitCode::kOk;
}

}  // namespace

CommandSpec help_command(const ProgramSpec& program) {
  return {
      .path = {"help"},
      .group = "This program",
      .summary = fmt::format("Explain {}, or one command", program.name),
      .description = {fmt::format(
          "'{0} help {1}' prints what '{0} {1} --help' prints. With --json, the "
          "commands and their options as data.",
          program.name, program.typical_command)},
      .positionals = {{.name = "COMMAND",
                       .help = "The words of a command; all commands if left out",
                       .required = false,
                       .repeated = true,
                       .completes = Completes::kCommands}},
      .options = {{.name = "markdown", .help = "Print the help of every command as one document"}},
      .examples = {{.command = fmt::format("{} help {}", program.name, program.typical_command),
                    .does = "Everything about one command"}},
      .run = run_help,
  };
}

}  // namespace outlast::cli
