#pragma once

#include <memory>

#include "sys/process_family.h"

namespace outlast::sys {

// Reads /proc.
std::unique_ptr<ProcessFamilies> make_posix_process_families();

}  // namespace outlast::sys
