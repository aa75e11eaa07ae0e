#include "cli/program/run.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/help.h"
#include "cli/program/terminal.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

bool has_word(std::span<const std::string> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Read from the raw words, because it must be right even when they are wrong: an error about the
// command line is itself coloured or JSON.
Terminal::Manner manner_of(const Catalog& catalog, std::span<const std::string> words,
                           sys::World& world) {
  ColourChoice choice = ColourChoice::kAuto;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--color=")) choice = colour_choice(words[i].substr(8));
    if (words[i] == "--color" && i + 1 < words.size()) choice = colour_choice(words[i + 1]);
  }
  return {.program = catalog.program().name,
          .json = has_word(words, "--json"),
          .quiet = has_word(words, "--quiet") || has_word(words, "-q"),
          .colour_out = use_colour(choice, world.console.out_is_terminal(), world.environment),
          .colour_err = use_colour(choice, world.console.err_is_terminal(), world.environment),
          .utf8 = speaks_utf8(world.environment)};
}

ExitCode wrong_command_line(const Terminal& terminal, std::string_view sentence) {
  terminal.error("wrong command line", sentence);
  return ExitCode::kWrongCommandLine;
}

ExitCode print_version(const Catalog& catalog, const Terminal& terminal) {
  const std::string& program = catalog.program().name;
  if (terminal.json()) {
    terminal.print_json(Json{{"program", program}, {"version", version()}});
  } else {
    terminal.print(fmt::format("{} {}\n", program, version()));
  }
  return ExitCode::kOk;
}

// The words named a group, or nothing: still they must be right, and may ask for the version.
ExitCode no_command(const Catalog& catalog, const Resolved& resolved, const Terminal& terminal) {
  CommandSpec bare{.path = resolved.path, .program = catalog.program().name};
  if (resolved.path.empty()) {
    bare.options = {{.name = "version", .help = "Print the version"}};
  }
  const Result<Invocation> invocation = parse_invocation(bare, resolved.rest);
  if (!invocation) return wrong_command_line(terminal, invocation.error().sentence());
  if (invocation->flag("version")) return print_version(catalog, terminal);
  const std::vector<std::string_view> next = catalog.next_words(resolved.path);
  if (resolved.path.empty() && !terminal.json()) {
    terminal.complain(short_help(catalog));
    return ExitCode::kWrongCommandLine;
  }
  return wrong_command_line(
      terminal,
      with_help_hint(fmt::format("'{}' needs one of {}", bare.full_name(), fmt::join(next, ", ")),
                     bare));
}

ExitCode dispatch(const Catalog& catalog, const SplitWords& split, sys::World& world,
                  Terminal& terminal) {
  Result<Resolved> resolved = resolve_command(catalog, split.words);
  if (!resolved) return wrong_command_line(terminal, resolved.error().sentence());
  if (has_word(resolved->rest, "--help") || has_word(resolved->rest, "-h")) {
    print_help(catalog, resolved->command, resolved->path, terminal);
    return ExitCode::kOk;
  }
  if (resolved->command == nullptr) return no_command(catalog, *resolved, terminal);
  const CommandSpec& command = *resolved->command;
  Result<Invocation> invocation = parse_invocation(command, resolved->rest);
  if (!invocation) return wrong_command_line(terminal, invocation.error().sentence());
  if (split.has_trailing && command.trailing_name.empty()) {
    return wrong_command_line(
        terminal,
        with_help_hint(fmt::format("'{}' takes nothing after '--'", command.full_name()), command));
  }
  invocation->trailing = split.trailing;
  Context context{.world = world, .terminal = terminal, .catalog = catalog};
  const Result<ExitCode> code = command.run(*invocation, context);
  if (code) return *code;
  terminal.error(code.error());
  return exit_code_for(code.error().code());
}

}  // namespace

std::string_view version() {
  return OUTLAST_VERSION;
}

ExitCode run(const Catalog& catalog, std::span<const std::string> arguments, sys::World& world) {
  const SplitWords split = split_at_double_dash(arguments);
  Terminal terminal(world.console, manner_of(catalog, split.words, world));
  const ExitCode code = dispatch(catalog, split, world, terminal);
  const Result<void> delivered = world.console.out_status();
  if (delivered) return code;
  if (delivered.error().code() == ErrorCode::kCancelled) return ExitCode::kReaderGone;
  // Standard output is what failed, so this is never JSON.
  world.console.err(
      fmt::format("{}: error: {}\n", catalog.program().name, delivered.error().to_string()));
  return ExitCode::kFailed;
}

}  // namespace outlast::cli
