#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/world.h"

namespace outlast::trainers {

// A file at a path, or an object at the URL of a store: whole, for what is small.

// kNotFound if it is not there, kInvalidArgument if it is larger than `bytes_max`.
Result<std::string> read_place(sys::World& world, const std::string& place,
                               std::uint64_t bytes_max);
// Whole or not at all; folders above it are made.
Result<void> write_place(sys::World& world, const std::string& place, std::string_view content);

}  // namespace outlast::trainers
