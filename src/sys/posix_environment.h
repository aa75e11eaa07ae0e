#pragma once

#include <memory>

#include "sys/environment.h"

namespace outlast::sys {

// The environment this program was started with.
std::unique_ptr<Environment> make_posix_environment();

}  // namespace outlast::sys
