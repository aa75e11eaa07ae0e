#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/completion.h"
#include "cli/program/exit_code.h"
#include "cli/program/standard_commands.h"
#include "cli/program/terminal.h"

namespace outlast::cli {
namespace {

Result<ExitCode> run_completion(const Invocation& invocation, Context& context) {
  const std::string& shell = invocation.positionals[0];
  const std::string script = completion_script(context.catalog.program(), shell);
  if (context.terminal.json()) {
    context.terminal.print_json(Json{{"shell", shell}, {"script", script}});
  } else {
    context.terminal.print(script);
  }
  return ExitCode::kOk;
}

// One candidate a line, a tab, its description; then ":files" if names of files fit, too.
Result<ExitCode> run_complete(const Invocation& invocation, Context& context) {
  const Completion completion = complete(context.catalog, invocation.trailing);
  std::string text;
  for (const Candidate& candidate : completion.candidates) {
    text += candidate.word;
    if (!candidate.help.empty()) text += "\t" + candidate.help;
    text += "\n";
  }
  if (completion.files) text += ":files\n";
  context.terminal.print(text);
  return ExitCode::kOk;
}

}  // namespace

CommandSpec completion_command(const ProgramSpec& program) {
  return {
      .path = {"completion"},
      .group = "This program",
      .summary = "Print the script that completes commands in a shell",
      .description = {fmt::format(
          "The script's first lines say where to put it. It asks this program what "
          "fits, so it stays right when {} is updated.",
          program.name)},
      .positionals = {{.name = "SHELL",
                       .help = "bash, zsh or fish",
                       .words = {completion_shells().begin(), completion_shells().end()}}},
      .examples = {{.command = fmt::format("source <({} completion bash)", program.name),
                    .does = "Try it in the bash that is running"},
                   {.command = fmt::format(
                        "{0} completion fish > ~/.config/fish/completions/{0}.fish", program.name),
                    .does = "Install it for fish"}},
      .run = run_completion,
  };
}

CommandSpec complete_command() {
  return {.path = {"__complete"}, .trailing_name = "WORDS...", .hidden = true, .run = run_complete};
}

}  // namespace outlast::cli
