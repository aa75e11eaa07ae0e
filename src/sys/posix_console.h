#pragma once

#include <memory>

#include "sys/console.h"

namespace outlast::sys {

// Standard output and standard error, unbuffered.
std::unique_ptr<Console> make_posix_console();

}  // namespace outlast::sys
