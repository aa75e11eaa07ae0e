#pragma once

#include <memory>

#include "sys/clock.h"

namespace outlast::sys {

// CLOCK_MONOTONIC and CLOCK_REALTIME.
std::unique_ptr<Clock> make_posix_clock();

}  // namespace outlast::sys
