#pragma once

#include <memory>

#include "sys/threads.h"

namespace outlast::sys {

// std::jthread, std::mutex and std::condition_variable_any.
std::unique_ptr<Threads> make_posix_threads();

}  // namespace outlast::sys
