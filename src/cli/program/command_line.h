#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"

namespace outlast::cli {

// argv without the program's name, cut at the first "--".
struct SplitWords {
  std::vector<std::string> words;
  bool has_trailing = false;  // there was a "--"
  std::vector<std::string> trailing;
};
SplitWords split_at_double_dash(std::span<const std::string> arguments);

// Which command is meant: words that name it are taken out, options may stand before, between and
// after them.
struct Resolved {
  const CommandSpec* command =
      nullptr;  // nullptr: the words end in a group, or name nothing at all
  std::vector<std::string> path;
  std::vector<std::string> rest;  // everything else, in order
};
// kInvalidArgument, with the nearest command, for a word that is none.
Result<Resolved> resolve_command(const Catalog& catalog, std::span<const std::string> words);

// A command with everything that was given to it. Valid as long as the catalog.
struct Invocation {
  const CommandSpec* command = nullptr;
  std::vector<std::string> positionals;
  std::map<std::string, std::string, std::less<>> values;              // options with a value
  std::map<std::string, std::vector<std::string>, std::less<>> lists;  // those that may be repeated
  std::set<std::string, std::less<>> flags;
  std::vector<std::string> trailing;

  bool flag(std::string_view name) const { return flags.contains(name); }
  std::optional<std::string> value(std::string_view name) const;
  // Of an option that is required: parsing has made sure that it is there.
  const std::string& required(std::string_view name) const;
  // Everything that was given to an option that may be repeated, in order.
  std::vector<std::string> list(std::string_view name) const;
  // Of what the spec declares as a number; parsing has made sure that it is one.
  std::optional<std::uint64_t> number(std::string_view name) const;
  std::uint64_t number_at(std::size_t positional) const;
  // Of what the spec declares as a decimal; finite.
  std::optional<double> decimal(std::string_view name) const;
};

// Reads the words of one command (the `rest` of resolve_command()) against its spec.
// kInvalidArgument, with a sentence that says what is wrong and where to look, for anything the
// spec does not allow.
Result<Invocation> parse_invocation(const CommandSpec& command, std::span<const std::string> rest);

// did_you_mean(), or else the one word that begins with what was written.
std::string suggestion(std::string_view written, std::span<const std::string_view> words);

// Ends a sentence about a wrong command line: says where the right one is described.
std::string with_help_hint(std::string sentence, const CommandSpec& command);
// The same where the words end in a group, or before any command.
std::string with_help_hint(std::string sentence, const Catalog& catalog,
                           std::span<const std::string> path);

}  // namespace outlast::cli
