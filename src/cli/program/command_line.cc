#include "cli/program/command_line.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"
#include "cli/program/text_layout.h"

namespace outlast::cli {

SplitWords split_at_double_dash(std::span<const std::string> arguments) {
  SplitWords split;
  const auto dashes = std::ranges::find(arguments, "--");
  split.words.assign(arguments.begin(), dashes);
  split.has_trailing = dashes != arguments.end();
  if (split.has_trailing) split.trailing.assign(dashes + 1, arguments.end());
  return split;
}

std::string with_help_hint(std::string sentence, const CommandSpec& command) {
  if (!sentence.ends_with('?')) sentence += '.';
  return fmt::format("{} See: {} --help", sentence, command.full_name());
}

std::string with_help_hint(std::string sentence, const Catalog& catalog,
                           std::span<const std::string> path) {
  return with_help_hint(std::move(sentence), CommandSpec{.path = {path.begin(), path.end()},
                                                         .program = catalog.program().name});
}

std::string suggestion(std::string_view written, std::span<const std::string_view> words) {
  std::string nearest = did_you_mean(written, words);
  const auto begins = [&](std::string_view word) { return word.starts_with(written); };
  if (!nearest.empty() || std::ranges::count_if(words, begins) != 1) return nearest;
  return fmt::format("; did you mean '{}'?", *std::ranges::find_if(words, begins));
}

Result<Resolved> resolve_command(const Catalog& catalog, std::span<const std::string> words) {
  Resolved resolved;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (resolved.command != nullptr || word.starts_with('-')) {
      resolved.rest.push_back(word);
      // "--color never doctor": the value of a common option is not a command.
      const OptionSpec* option =
          word.starts_with("--") ? find_option(nullptr, std::string_view(word).substr(2)) : nullptr;
      if (resolved.command == nullptr && option != nullptr && !option->is_flag() &&
          i + 1 < words.size()) {
        resolved.rest.push_back(words[++i]);
      }
      continue;
    }
    std::vector<std::string> longer = resolved.path;
    longer.push_back(word);
    resolved.command = catalog.find(longer);
    if (resolved.command == nullptr &&
        !(resolved.path.empty() && catalog.find_group(word) != nullptr)) {
      const std::vector<std::string_view> known = catalog.next_words(resolved.path);
      return Error(ErrorCode::kInvalidArgument,
                   with_help_hint(fmt::format("there is no command '{}'{}",
                                              printable(fmt::format("{}", fmt::join(longer, " "))),
                                              suggestion(word, known)),
                                  catalog, resolved.path));
    }
    resolved.path = std::move(longer);
  }
  return resolved;
}

std::optional<std::string> Invocation::value(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

const std::string& Invocation::required(std::string_view name) const {
  const auto found = values.find(name);
  OUTLAST_CHECK(found != values.end(), "--{} is not declared as required", name);
  return found->second;
}

std::vector<std::string> Invocation::list(std::string_view name) const {
  const auto found = lists.find(name);
  return found == lists.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::uint64_t> Invocation::number(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : parse_number<std::uint64_t>(found->second);
}

std::uint64_t Invocation::number_at(std::size_t positional) const {
  const auto number = parse_number<std::uint64_t>(positionals.at(positional));
  OUTLAST_CHECK(number.has_value(), "argument {} is not declared as a number", positional);
  return *number;
}

std::optional<double> Invocation::decimal(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : parse_decimal(found->second);
}

}  // namespace outlast::cli
