#include "cli/program/catalog.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cli/program/command_spec.h"

namespace outlast::cli {
namespace {

void check_option(const CommandSpec& command, const OptionSpec& option) {
  OUTLAST_CHECK(!(option.number && option.decimal), "--{} of '{}' is two kinds of number",
                option.name, command.name());
  OUTLAST_CHECK(option.default_value.empty() || (!option.is_flag() && !option.required),
                "--{} of '{}' cannot have a default", option.name, command.name());
}

}  // namespace

Catalog::Catalog(ProgramSpec program, std::vector<GroupSpec> groups,
                 std::vector<CommandSpec> commands)
    : program_(std::move(program)), groups_(std::move(groups)), commands_(std::move(commands)) {
  OUTLAST_CHECK(!program_.name.empty(), "a program without a name");
  std::set<std::vector<std::string>> seen;
  for (CommandSpec& command : commands_) {
    command.program = program_.name;
    const std::string name = command.name();
    OUTLAST_CHECK(!command.path.empty() && command.path.size() <= 2, "the path of '{}'", name);
    OUTLAST_CHECK(seen.insert(command.path).second, "two commands '{}'", name);
    OUTLAST_CHECK(command.path.size() == 1 || find_group(command.path[0]) != nullptr,
                  "'{}' has no group", name);
    OUTLAST_CHECK(find_group(name) == nullptr, "'{}' is also a group", name);
    OUTLAST_CHECK(command.run != nullptr, "'{}' does nothing", name);
    OUTLAST_CHECK(command.hidden || (!command.examples.empty() && !command.summary.empty() &&
                                     !command.description.empty() && !command.group.empty()),
                  "'{}' is not described", name);
    for (const OptionSpec& option : command.options) check_option(command, option);
  }
}

const CommandSpec* Catalog::find(std::span<const std::string> path) const {
  for (const CommandSpec& command : commands_) {
    if (std::ranges::equal(command.path, path)) return &command;
  }
  return nullptr;
}

const GroupSpec* Catalog::find_group(std::string_view name) const {
  for (const GroupSpec& group : groups_) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

std::string Catalog::full_name(std::span<const std::string> path) const {
  return path.empty() ? program_.name : fmt::format("{} {}", program_.name, fmt::join(path, " "));
}

std::vector<std::string_view> Catalog::next_words(std::span<const std::string> path) const {
  std::vector<std::string_view> words;
  for (const CommandSpec& command : commands_) {
    if (command.hidden || command.path.size() <= path.size()) continue;
    if (!std::equal(path.begin(), path.end(), command.path.begin())) continue;
    const std::string_view word = command.path[path.size()];
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string_view Catalog::summary_of(std::span<const std::string> path) const {
  if (const CommandSpec* command = find(path)) return command->summary;
  if (path.size() == 1) {
    if (const GroupSpec* group = find_group(path[0])) return group->summary;
  }
  return {};
}

}  // namespace outlast::cli
