#pragma once

#include <optional>
#include <string>

#include "trainer_files/layouts.h"

namespace outlast::trainer_files {

// Why a set is probably not a checkpoint, by where it is and what it is called: a data set that the
// trainer prepares, weights that it downloads. nullopt if nothing speaks against it. Only for sets
// that were written once: what is written again and again is a checkpoint wherever it is.
std::optional<std::string> reason_by_place(const FoundSet& set);

}  // namespace outlast::trainer_files
