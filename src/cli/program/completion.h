#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"

namespace outlast::cli {

struct Candidate {
  std::string word;
  std::string help;  // one line; may be empty
};

struct Completion {
  std::vector<Candidate> candidates;  // all begin with what was typed
  bool files = false;                 // names of files fit here, too
};

// What may stand in the place of the last of `words` (what was typed so far without the program's
// name; the last may be empty). Pure.
Completion complete(const Catalog& catalog, std::span<const std::string> words);

// The script that makes a shell ask the program; `shell` is one of completion_shells().
std::span<const std::string> completion_shells();
std::string completion_script(const ProgramSpec& program, const std::string& shell);

}  // namespace outlast::cli
