// The command specs for programs (JSON) and for the documents (Markdown).

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/json.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/help.h"

namespace outlast::cli {
namespace {

Json option_json(const OptionSpec& option) {
  Json json = {{"name", "--" + option.name}, {"help", option.help}};
  if (option.short_name != '\0') json["short"] = fmt::format("-{}", option.short_name);
  if (!option.is_flag()) json["value"] = option.value_name;
  if (!option.words.empty()) json["words"] = option.words;
  if (!option.default_value.empty()) json["default"] = option.default_value;
  if (option.required) json["required"] = true;
  if (option.repeated) json["repeated"] = true;
  return json;
}

Json options_json(std::span<const OptionSpec> options) {
  Json json = Json::array();
  for (const OptionSpec& option : options) json.push_back(option_json(option));
  return json;
}

std::string options_markdown(std::span<const OptionSpec> options) {
  std::string text = "| option | meaning |\n|---|---|\n";
  for (const OptionSpec& option : options) {
    text += fmt::format("| `{}` | {} |\n", option_label(option), option_meaning(option));
  }
  return text + "\n";
}

std::string command_markdown(const CommandSpec& command) {
  std::string text = fmt::format("## {}\n\n{}.\n\n", command.full_name(), command.summary);
  text += fmt::format("```\n{}\n```\n\n", usage_line(command));
  for (const std::string& sentences : command.description) text += sentences + "\n\n";
  if (!command.positionals.empty()) {
    text += "| argument | meaning |\n|---|---|\n";
    for (const PositionalSpec& positional : command.positionals) {
      text += fmt::format("| `{}` | {} |\n", positional.name, positional.help);
    }
    text += "\n";
  }
  if (!command.options.empty()) text += options_markdown(command.options);
  for (const Example& example : command.examples) {
    text += fmt::format("{}:\n\n```\n{}\n```\n\n", example.does, example.command);
  }
  return text;
}

}  // namespace

Json command_json(const CommandSpec& command) {
  Json positionals = Json::array();
  for (const PositionalSpec& positional : command.positionals) {
    positionals.push_back({{"name", positional.name},
                           {"help", positional.help},
                           {"required", positional.required},
                           {"repeated", positional.repeated}});
  }
  Json examples = Json::array();
  for (const Example& example : command.examples) {
    examples.push_back({{"command", example.command}, {"does", example.does}});
  }
  return {{"command", command.name()},    {"summary", command.summary},
          {"usage", usage_line(command)}, {"description", command.description},
          {"arguments", positionals},     {"options", options_json(command.options)},
          {"examples", examples}};
}

Json catalog_json(const Catalog& catalog) {
  Json commands = Json::array();
  for (const CommandSpec& command : catalog.commands()) {
    if (!command.hidden) commands.push_back(command_json(command));
  }
  Json exit_codes = Json::array();
  for (const ExitCodeMeaning& row : exit_code_meanings()) {
    exit_codes.push_back({{"code", static_cast<int>(row.code)}, {"meaning", row.meaning}});
  }
  return {{"commands", commands},
          {"common_options", options_json(common_options())},
          {"exit_codes", exit_codes}};
}

void print_help(const Catalog& catalog, const CommandSpec* command,
                std::span<const std::string> path, const Terminal& terminal) {
  if (terminal.json()) {
    terminal.print_json(command != nullptr ? command_json(*command) : catalog_json(catalog));
  } else if (command != nullptr) {
    terminal.print(command_help(*command, terminal));
  } else if (!path.empty()) {
    terminal.print(group_help(catalog, path[0], terminal));
  } else {
    terminal.print(program_help(catalog, terminal));
  }
}

std::string commands_markdown(const Catalog& catalog) {
  const std::string& program = catalog.program().name;
  std::string text = fmt::format(
      "# Commands\n\n<!-- Written by `{} help --markdown`; a test compares. -->\n\n", program);
  text +=
      "Results go to standard output, everything else to standard error. Colours and progress "
      "appear "
      "only on a terminal. Options may stand before or after the words of a command; what follows "
      "a "
      "lone `--` is never read as an option.\n\n"
      "Every command takes:\n\n";
  text += options_markdown(common_options());
  text += fmt::format("`{} --version` prints the version.\n\n", program);
  text +=
      "With `--json` an error is an object on standard output, "
      "`{\"error\": {\"code\": ..., \"message\": ...}}`, and the exit code is the same.\n\n"
      "| exit code | meaning |\n|---|---|\n";
  for (const ExitCodeMeaning& row : exit_code_meanings()) {
    text += fmt::format("| {} | {} |\n", static_cast<int>(row.code), row.meaning);
  }
  for (const CommandSpec& command : catalog.commands()) {
    if (!command.hidden) text += "\n" + command_markdown(command);
    while (text.ends_with("\n\n")) text.pop_back();
  }
  return text;
}

}  // namespace outlast::cli
