#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program/command_spec.h"

namespace outlast::cli {

// Commands that share a first word: "job" of "job check".
struct GroupSpec {
  std::string name;
  std::string summary;
};

// A program with all its commands. Immutable after construction; hands out pointers into itself.
class Catalog {
 public:
  // Writes the program's name into every command. Stops the program if two commands have one path,
  // a path has a group that is not declared, or a spec is incomplete or contradicts itself: that is
  // a mistake in our code, and every test would meet it.
  Catalog(ProgramSpec program, std::vector<GroupSpec> groups, std::vector<CommandSpec> commands);

  // The command with exactly this path, or nullptr.
  const CommandSpec* find(std::span<const std::string> path) const;
  const GroupSpec* find_group(std::string_view name) const;
  // Commands and groups that may follow `path`: "" gives the first words of all. In order of
  // declaration, hidden ones left out.
  std::vector<std::string_view> next_words(std::span<const std::string> path) const;
  // Of what `next_words` gave: its one-line summary.
  std::string_view summary_of(std::span<const std::string> path) const;

  // "outlast job": as typed. Of an empty path: the program's name alone.
  std::string full_name(std::span<const std::string> path) const;

  const ProgramSpec& program() const { return program_; }
  const std::vector<CommandSpec>& commands() const { return commands_; }
  const std::vector<GroupSpec>& groups() const { return groups_; }

 private:
  ProgramSpec program_;
  std::vector<GroupSpec> groups_;
  std::vector<CommandSpec> commands_;
};

}  // namespace outlast::cli
