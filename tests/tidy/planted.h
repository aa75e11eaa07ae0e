#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/tidy.h"

// Small trees to judge the rules by.
namespace outlast::tidy {

using Files = std::vector<std::pair<std::string, std::string>>;  // path, text

// A tree that breaks no rule, with `planted` in the place of, or beside, its files.
Files clean_files_and(const Files& planted);
// src/job/spec.cc with this in its third line.
Files job_code(const std::string& code);

// What check_tree() finds, as text.
std::vector<std::string> findings_in(const Tree& tree);
std::vector<std::string> findings_with(const Files& planted);

}  // namespace outlast::tidy
