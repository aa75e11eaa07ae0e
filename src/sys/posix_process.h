#pragma once

#include <memory>

#include "sys/process.h"

namespace outlast::sys {

// Children as start_child() makes them, and pidfds; no SIGCHLD, so it does not disturb anybody
// else's children. An ended child stays a zombie until its Process goes: until then neither its pid
// nor its group can come to mean somebody else. For that SIGCHLD must not be ignored, which is
// main()'s business.
std::unique_ptr<ProcessLauncher> make_posix_process_launcher();

}  // namespace outlast::sys
