#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// How this module words what is wrong with a file of weights.
namespace outlast::trainers {

// kCorrupt: the file is not what it says it is, or nothing that we can read.
Error bad_weights(std::string sentence,
                  std::source_location where = std::source_location::current());
// A name out of a file, in quotes, cut after 80 bytes, with nothing in it that a terminal obeys.
std::string shown_name(std::string_view name);
// "[16,3,3,3]".
std::string shown_shape(const std::vector<std::uint64_t>& shape);

}  // namespace outlast::trainers
