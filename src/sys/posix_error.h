#pragma once

#include <source_location>
#include <string>

#include "base/error.h"

namespace outlast::sys {

// The kernel's refusal as an Error: "<doing>: No space left on device", with the code that callers
// branch on.
Error posix_error(int error_number, const std::string& doing,
                  std::source_location where = std::source_location::current());

}  // namespace outlast::sys
