#include "cli/program/command_spec.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace outlast::cli {

std::string CommandSpec::name() const {
  return fmt::format("{}", fmt::join(path, " "));
}

std::string CommandSpec::full_name() const {
  return path.empty() ? program : fmt::format("{} {}", program, name());
}

std::span<const OptionSpec> common_options() {
  static const std::vector<OptionSpec> options = {
      {.name = "json", .help = "Print the result, or the error, as JSON"},
      {.name = "color",
       .value_name = "WHEN",
       .help = "Colour the output: auto (on a terminal, unless NO_COLOR is set), always, never",
       .words = {"auto", "always", "never"}},
      {.name = "quiet", .short_name = 'q', .help = "Leave out notes and progress"},
      {.name = "help", .short_name = 'h', .help = "Print this help"},
  };
  return options;
}

const OptionSpec* find_option(const CommandSpec* command, std::string_view name) {
  if (command != nullptr) {
    for (const OptionSpec& option : command->options) {
      if (option.name == name) return &option;
    }
  }
  for (const OptionSpec& option : common_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

}  // namespace outlast::cli
