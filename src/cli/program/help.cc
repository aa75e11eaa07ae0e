#include "cli/program/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"

namespace outlast::cli {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kColumn = 22;         // where explanations begin
constexpr std::size_t kExampleColumn = 33;  // the same for whole command lines

std::string heading(const Terminal& terminal, std::string_view text) {
  return "\n" + terminal.paint(Colour::kBold, text) + "\n";
}

std::string options_text(std::span<const OptionSpec> options) {
  std::string text;
  for (const OptionSpec& option : options) {
    text += definition(option_label(option), option_meaning(option), kIndent, kColumn);
  }
  return text;
}

std::string examples_text(std::span<const Example> examples) {
  std::string text;
  for (const Example& example : examples) {
    text += paragraph(example.does + ":", kIndent);
    text += fmt::format("{:>{}}{}\n", "", kIndent + 2, example.command);
  }
  return text;
}

std::string exit_codes_text() {
  std::string text;
  for (const ExitCodeMeaning& row : exit_code_meanings()) {
    text += definition(fmt::format("{}", static_cast<int>(row.code)), row.meaning, kIndent, 8);
  }
  return text;
}

std::string program_usage(const ProgramSpec& program) {
  return fmt::format("Usage: {} COMMAND [OPTION]... [ARGUMENT]...\n", program.name);
}

// The groups in the order in which commands first name them.
std::vector<std::string_view> group_headings(const Catalog& catalog) {
  std::vector<std::string_view> headings;
  for (const CommandSpec& command : catalog.commands()) {
    if (command.hidden || std::ranges::find(headings, command.group) != headings.end()) continue;
    headings.push_back(command.group);
  }
  return headings;
}

std::string commands_text(const Catalog& catalog, std::string_view group) {
  std::string text;
  for (const CommandSpec& command : catalog.commands()) {
    if (command.hidden || command.group != group) continue;
    text += definition(command.name(), command.summary, kIndent, kColumn);
  }
  return text;
}

}  // namespace

std::string option_label(const OptionSpec& option) {
  std::string label = option.short_name == '\0' ? "" : fmt::format("-{}, ", option.short_name);
  label += "--" + option.name;
  if (!option.is_flag()) label += " " + option.value_name;
  return label;
}

std::string option_meaning(const OptionSpec& option) {
  if (option.default_value.empty()) return option.help;
  return fmt::format("{} (default: {})", option.help, option.default_value);
}

std::string usage_line(const CommandSpec& command) {
  std::string line = command.full_name();
  for (const OptionSpec& option : command.options) {
    if (option.required) line += fmt::format(" --{} {}", option.name, option.value_name);
  }
  line += " [OPTION]...";
  for (const PositionalSpec& positional : command.positionals) {
    const std::string name = positional.name + (positional.repeated ? "..." : "");
    line += positional.required ? " " + name : " [" + name + "]";
  }
  if (!command.trailing_name.empty()) line += " -- " + command.trailing_name;
  return line;
}

std::string program_help(const Catalog& catalog, const Terminal& terminal) {
  const ProgramSpec& program = catalog.program();
  std::string text = fmt::format("{}: {}\n\n", program.name, program.tagline);
  text += program_usage(program);
  for (const std::string_view group : group_headings(catalog)) {
    text += heading(terminal, fmt::format("{}:", group)) + commands_text(catalog, group);
  }
  text += heading(terminal, "Options of every command:") + options_text(common_options());
  text += heading(terminal, fmt::format("Option of {} itself:", program.name));
  text += definition("--version", "Print the version", kIndent, kColumn);
  if (!program.examples.empty()) text += heading(terminal, "Examples:");
  for (const Example& example : program.examples) {
    text += definition(example.command, example.does, kIndent, kExampleColumn);
  }
  text += heading(terminal, "Exit codes:") + exit_codes_text();
  return text;
}

std::string short_help(const Catalog& catalog) {
  std::string text = program_usage(catalog.program());
  for (const std::string_view group : group_headings(catalog)) {
    text += fmt::format("\n{}:\n", group) + commands_text(catalog, group);
  }
  return text + fmt::format("\nMore: {} --help\n", catalog.program().name);
}

std::string group_help(const Catalog& catalog, const std::string& name, const Terminal& terminal) {
  const GroupSpec* group = catalog.find_group(name);
  OUTLAST_CHECK(group != nullptr, "no group '{}'", name);
  const std::string full_name = catalog.full_name(std::span(&name, 1));
  std::string text = fmt::format("{}: {}\n\n", full_name, group->summary);
  text += fmt::format("Usage: {} COMMAND [OPTION]... [ARGUMENT]...\n", full_name);
  text += heading(terminal, "Commands:");
  std::vector<Example> examples;
  for (const CommandSpec& command : catalog.commands()) {
    if (command.hidden || command.path[0] != name) continue;
    text += definition(command.name(), command.summary, kIndent, kColumn);
    examples.push_back(command.examples.front());
  }
  text += heading(terminal, "Examples:") + examples_text(examples);
  text += "\n" + paragraph(fmt::format("More: {} COMMAND --help", full_name), 0);
  return text;
}

std::string command_help(const CommandSpec& command, const Terminal& terminal) {
  std::string text = fmt::format("{}: {}\n\n", command.full_name(), command.summary);
  text += "Usage: " + usage_line(command) + "\n";
  for (const std::string& sentences : command.description) text += "\n" + paragraph(sentences, 0);
  if (!command.positionals.empty()) {
    text += heading(terminal, "Arguments:");
    for (const PositionalSpec& positional : command.positionals) {
      text += definition(positional.name, positional.help, kIndent, kColumn);
    }
  }
  if (!command.options.empty()) {
    text += heading(terminal, "Options:") + options_text(command.options);
  }
  text += heading(terminal, "Options of every command:") + options_text(common_options());
  text += heading(terminal, "Examples:") + examples_text(command.examples);
  text += "\n" + paragraph(fmt::format("Exit codes: see '{} --help'.", command.program), 0);
  return text;
}

}  // namespace outlast::cli
