// The one file that knows CLI11 (it costs seconds to include). It is asked for very little: which
// words are options and which value belongs to which; everything a user reads is said by us.

#include <fmt/core.h>
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/CLI.hpp>  // IWYU pragma: keep
#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/text_layout.h"

namespace outlast::cli {
namespace {

Error wrong(const CommandSpec& command, std::string sentence) {
  return {ErrorCode::kInvalidArgument, with_help_hint(std::move(sentence), command)};
}

Error unknown_option(const CommandSpec& command, const std::string& word) {
  std::vector<std::string> names;
  names.reserve(command.options.size() + common_options().size());
  for (const OptionSpec& option : command.options) names.push_back("--" + option.name);
  for (const OptionSpec& option : common_options()) names.push_back("--" + option.name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string name = word.substr(0, word.find('='));
  return wrong(command,
               fmt::format("there is no option '{}'{}", printable(name), suggestion(name, known)));
}

Error wrong_word(const CommandSpec& command, std::string_view what, const std::string& given,
                 const std::vector<std::string>& words) {
  const std::vector<std::string_view> known(words.begin(), words.end());
  return wrong(command, fmt::format("{} is one of {}, not '{}'{}", what, fmt::join(words, ", "),
                                    printable(given), suggestion(given, known)));
}

Error no_number(const CommandSpec& command, std::string_view what, const std::string& given) {
  return wrong(command, fmt::format("{} must be a whole number below 2^64, not '{}'", what,
                                    printable(given)));
}

Error no_decimal(const CommandSpec& command, std::string_view what, const std::string& given) {
  return wrong(command, fmt::format("{} must be a decimal number such as 0.001 or 1e-4, not '{}'",
                                    what, printable(given)));
}

// CLI11 would take the next word as the value of "--opt=", and reads "--flag=no" in its own way.
Result<void> check_equals_signs(const CommandSpec& command, std::span<const std::string> rest) {
  for (const std::string& word : rest) {
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) continue;
    const OptionSpec* option = find_option(&command, std::string_view(word).substr(2, equals - 2));
    if (option == nullptr) continue;
    if (option->is_flag()) {
      return wrong(command, fmt::format("--{} takes no value, so '{}' means nothing", option->name,
                                        printable(word)));
    }
    if (equals + 1 == word.size()) {
      return wrong(command,
                   fmt::format("--{} needs a value: {}", option->name, option->value_name));
    }
  }
  return {};
}

using Declared = std::map<std::string, CLI::Option*>;

void declare(CLI::App& app, const OptionSpec& option, Declared& declared) {
  std::string names = "--" + option.name;
  if (option.short_name != '\0') names += fmt::format(",-{}", option.short_name);
  if (option.is_flag()) {
    declared[option.name] = app.add_flag(names);
    return;
  }
  // Without these, a second value would replace the first and "[a]" would become "a".
  declared[option.name] =
      app.add_option(names)->expected(1)->allow_extra_args(false)->multi_option_policy(
          CLI::MultiOptionPolicy::TakeAll);
}

Result<void> check_value(const CommandSpec& command, const OptionSpec& option,
                         const std::string& value, std::span<const std::string> rest) {
  const std::string with_equals = fmt::format("--{}={}", option.name, value);
  if (value.starts_with("--") && std::ranges::find(rest, with_equals) == rest.end()) {
    return wrong(command, fmt::format("--{} needs a value, but '{}' follows it", option.name,
                                      printable(value)));
  }
  if (!option.words.empty() && std::ranges::find(option.words, value) == option.words.end()) {
    return wrong_word(command, "--" + option.name, value, option.words);
  }
  if (option.number && !parse_number<std::uint64_t>(value)) {
    return no_number(command, "--" + option.name, value);
  }
  if (option.decimal && !parse_decimal(value)) {
    return no_decimal(command, "--" + option.name, value);
  }
  return {};
}

Result<void> take_values(const CommandSpec& command, const OptionSpec& option,
                         const std::vector<std::string>& given, std::span<const std::string> rest,
                         Invocation& invocation) {
  if (given.empty() && option.required) {
    return wrong(command, fmt::format("'{}' needs --{} {}: {}", command.full_name(), option.name,
                                      option.value_name, option.help));
  }
  if (given.empty()) return {};
  if (given.size() > 1 && !option.repeated) {
    return wrong(command, fmt::format("--{} was given twice", option.name));
  }
  for (const std::string& value : given) OUTLAST_TRY(check_value(command, option, value, rest));
  if (option.repeated) {
    invocation.lists[option.name] = given;
  } else {
    invocation.values[option.name] = given[0];
  }
  return {};
}

// CLI11 knows no positionals here: they are what it left over, and so are unknown options.
Result<void> take_positionals(const CommandSpec& command, std::vector<std::string> left,
                              Invocation& invocation) {
  for (const std::string& word : left) {
    if (word.size() > 1 && word.starts_with('-')) return unknown_option(command, word);
  }
  const std::vector<PositionalSpec>& specs = command.positionals;
  const bool unbounded = !specs.empty() && specs.back().repeated;
  if (left.size() > specs.size() && !unbounded) {
    return wrong(command, fmt::format("'{}' is one word too many for '{}'{}",
                                      printable(left[specs.size()]), command.full_name(),
                                      command.trailing_name.empty()
                                          ? ""
                                          : ": a command and its words come after '--'"));
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (i >= left.size()) {
      if (!specs[i].required) break;
      return wrong(command, fmt::format("'{}' needs {}: {}", command.full_name(), specs[i].name,
                                        specs[i].help));
    }
    if (left[i].empty()) return wrong(command, fmt::format("{} is an empty word", specs[i].name));
    const std::vector<std::string>& words = specs[i].words;
    if (!words.empty() && std::ranges::find(words, left[i]) == words.end()) {
      return wrong_word(command, specs[i].name, left[i], words);
    }
    if (specs[i].number && !parse_number<std::uint64_t>(left[i])) {
      return no_number(command, specs[i].name, left[i]);
    }
  }
  invocation.positionals = std::move(left);
  return {};
}

Result<std::vector<std::string>> parse_with_cli11(const CommandSpec& command, CLI::App& app,
                                                  std::span<const std::string> rest) {
  std::vector<std::string> reversed(rest.rbegin(), rest.rend());  // what CLI11 wants
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch&) {
    // The only way here: words ran out where an option waits for its value.
    return wrong(command, fmt::format("{} needs a value", rest.back()));
  } catch (const CLI::Error& error) {
    return wrong(command, fmt::format("this command line cannot be read ({})", error.what()));
  }
  return app.remaining();
}

}  // namespace

Result<Invocation> parse_invocation(const CommandSpec& command, std::span<const std::string> rest) {
  OUTLAST_TRY(check_equals_signs(command, rest));
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Declared declared;
  std::vector<OptionSpec> options = command.options;
  options.insert(options.end(), common_options().begin(), common_options().end());
  for (const OptionSpec& option : options) declare(app, option, declared);

  OUTLAST_TRY_ASSIGN(auto left, parse_with_cli11(command, app, rest));
  Invocation invocation;
  invocation.command = &command;
  for (const OptionSpec& option : options) {
    const CLI::Option& parsed = *declared.at(option.name);
    if (option.is_flag()) {
      if (parsed.count() > 0) invocation.flags.insert(option.name);
    } else {
      OUTLAST_TRY(take_values(command, option, parsed.results(), rest, invocation));
    }
  }
  OUTLAST_TRY(take_positionals(command, std::move(left), invocation));
  return invocation;
}

}  // namespace outlast::cli
