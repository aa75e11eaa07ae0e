#include "cli/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/catalog.h"
#include "cli/command_spec.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/text_layout.h"

namespace outlast::cli {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kColumn = 22;  // where explanations begin

std::string heading(const Terminal& terminal, std::string_view text) {
  return "\n" + terminal.paint(Colour::kBold, text) + "\n";
}

std::string options_text(std::span<const OptionSpec> options) {
  std::string text;
  for (const OptionSpec& option : options) {
    text += definition(option_label(option), option.help, kIndent, kColumn);
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

std::string usage_line(const CommandSpec& command) {
  std::string line = "outlast " + command.name();
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
  std::string text = "outlast: training jobs that outlast their machines\n\n";
  text += "Usage: outlast COMMAND [OPTION]... [ARGUMENT]...\n";
  for (const std::string_view group : group_headings(catalog)) {
    text += heading(terminal, fmt::format("{}:", group)) + commands_text(catalog, group);
  }
  text += heading(terminal, "Options of every command:") + options_text(common_options());
  text += heading(terminal, "Option of outlast itself:");
  text += definition("--version", "Print the version", kIndent, kColumn);
  text += heading(terminal, "Examples:");
  text += "  outlast doctor                 see what works on this machine\n";
  text += "  outlast job check job.yaml     see a job as it will run, or its mistakes\n";
  text += "  outlast job check --help       everything about one command\n";
  text += heading(terminal, "Exit codes:") + exit_codes_text();
  return text;
}

std::string short_help(const Catalog& catalog) {
  std::string text = "Usage: outlast COMMAND [OPTION]... [ARGUMENT]...\n";
  for (const std::string_view group : group_headings(catalog)) {
    text += fmt::format("\n{}:\n", group) + commands_text(catalog, group);
  }
  return text + "\nMore: outlast --help\n";
}

std::string group_help(const Catalog& catalog, const std::string& name, const Terminal& terminal) {
  const GroupSpec* group = catalog.find_group(name);
  OUTLAST_CHECK(group != nullptr, "no group '{}'", name);
  std::string text = fmt::format("outlast {}: {}\n\n", name, group->summary);
  text += fmt::format("Usage: outlast {} COMMAND [OPTION]... [ARGUMENT]...\n", name);
  text += heading(terminal, "Commands:");
  std::vector<Example> examples;
  for (const CommandSpec& command : catalog.commands()) {
    if (command.hidden || command.path[0] != name) continue;
    text += definition(command.name(), command.summary, kIndent, kColumn);
    examples.push_back(command.examples.front());
  }
  text += heading(terminal, "Examples:") + examples_text(examples);
  text += "\n" + paragraph(fmt::format("More: outlast {} COMMAND --help", name), 0);
  return text;
}

std::string command_help(const CommandSpec& command, const Terminal& terminal) {
  std::string text = fmt::format("outlast {}: {}\n\n", command.name(), command.summary);
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
  text += "\n" + paragraph("Exit codes: see 'outlast --help'.", 0);
  return text;
}

}  // namespace outlast::cli
