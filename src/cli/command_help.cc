#include <fmt/core.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/result.h"
#include "cli/command_line.h"
#include "cli/command_spec.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/terminal.h"

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
    terminal.error("wrong command line",
                   about ? with_help_hint(fmt::format("'outlast {}' is no command",
                                                      fmt::join(invocation.positionals, " ")),
                                          about->path)
                         : about.error().sentence());
    return ExitCode::kWrongCommandLine;
  }
  print_help(context.catalog, about->command, about->path, terminal);
  return ExitCode::kOk;
}

}  // namespace

CommandSpec help_command() {
  return {
      .path = {"help"},
      .group = "This program",
      .summary = "Explain outlast, or one command",
      .description =
          {"'outlast help job check' prints what 'outlast job check --help' prints. With "
           "--json, the commands and their options as data."},
      .positionals = {{.name = "COMMAND",
                       .help = "The words of a command; all commands if left out",
                       .required = false,
                       .repeated = true,
                       .completes = Completes::kCommands}},
      .options = {{.name = "markdown", .help = "Print the help of every command as one document"}},
      .examples = {{.command = "outlast help job check", .does = "Everything about one command"}},
      .run = run_help,
  };
}

}  // namespace outlast::cli
