#include "cli/program/completion.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"

namespace outlast::cli {
namespace {

class Completer {
 public:
  Completer(const Catalog& catalog, std::string typed)
      : catalog_(catalog), typed_(std::move(typed)) {}

  void add(const std::string& word, std::string_view help = {}) {
    if (word.starts_with(typed_)) result_.candidates.push_back({word, std::string(help)});
  }

  void add_words(std::span<const std::string> words, const std::string& before = {}) {
    for (const std::string& word : words) add(before + word);
  }

  void add_commands(std::span<const std::string> path) {
    for (const std::string_view word : catalog_.next_words(path)) {
      std::vector<std::string> longer(path.begin(), path.end());
      longer.emplace_back(word);
      add(longer.back(), catalog_.summary_of(longer));
    }
  }

  void add_options(const CommandSpec* command, std::span<const std::string> given) {
    const auto offer = [&](const OptionSpec& option) {
      const std::string word = "--" + option.name;
      const bool is_new = option.repeated || std::ranges::find(given, word) == given.end();
      if (is_new) add(word, option.help);
    };
    if (command != nullptr) std::ranges::for_each(command->options, offer);
    std::ranges::for_each(common_options(), offer);
  }

  void add_value(const OptionSpec& option, const std::string& before) {
    add_words(option.words, before);
    result_.files = option.completes == Completes::kFiles;
  }

  // The command's word number `index`, of which `before` are there.
  void add_positional(const CommandSpec& command, std::span<const std::string> before) {
    const std::vector<PositionalSpec>& specs = command.positionals;
    if (specs.empty() || (before.size() >= specs.size() && !specs.back().repeated)) return;
    const PositionalSpec& spec = specs[std::min(before.size(), specs.size() - 1)];
    add_words(spec.words);
    if (spec.completes == Completes::kFiles) result_.files = true;
    if (spec.completes == Completes::kCommands) add_commands(before);
  }

  void offer_files() { result_.files = true; }
  Completion take() { return std::move(result_); }

 private:
  const Catalog& catalog_;
  const std::string typed_;
  Completion result_;
};

const OptionSpec* option_of(const CommandSpec* command, const std::string& word) {
  if (!word.starts_with("--")) return nullptr;
  const std::size_t end = std::min(word.find('='), word.size());
  return find_option(command, std::string_view(word).substr(2, end - 2));
}

// The words that are neither options nor their values.
std::vector<std::string> plain_words(const CommandSpec& command,
                                     std::span<const std::string> rest) {
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (!rest[i].starts_with('-')) {
      plain.push_back(rest[i]);
      continue;
    }
    const OptionSpec* option = option_of(&command, rest[i]);
    const bool value_follows =
        option != nullptr && !option->is_flag() && rest[i].find('=') == std::string::npos;
    if (value_follows) ++i;
  }
  return plain;
}

}  // namespace

Completion complete(const Catalog& catalog, std::span<const std::string> words) {
  const std::string typed = words.empty() ? std::string() : words.back();
  const std::span<const std::string> before =
      words.empty() ? words : words.subspan(0, words.size() - 1);
  Completer completer(catalog, typed);
  // After "--" comes somebody else's command line.
  if (std::ranges::find(before, "--") != before.end()) {
    completer.offer_files();
    return completer.take();
  }
  const Result<Resolved> resolved = resolve_command(catalog, before);
  if (!resolved) return completer.take();
  const CommandSpec* command = resolved->command;

  if (const OptionSpec* last = before.empty() ? nullptr : option_of(command, before.back());
      last != nullptr && !last->is_flag() && before.back().find('=') == std::string::npos) {
    completer.add_value(*last, {});
    return completer.take();
  }
  if (const std::size_t equals = typed.find('=');
      typed.starts_with("--") && equals != std::string::npos) {
    const OptionSpec* option = option_of(command, typed);
    if (option != nullptr) completer.add_value(*option, typed.substr(0, equals + 1));
    return completer.take();
  }
  if (typed.starts_with('-')) {
    completer.add_options(command, before);
    if (before.empty()) completer.add("--version", "Print the version");
    return completer.take();
  }
  if (command == nullptr) {
    completer.add_commands(resolved->path);
  } else {
    completer.add_positional(*command, plain_words(*command, resolved->rest));
  }
  return completer.take();
}

}  // namespace outlast::cli
