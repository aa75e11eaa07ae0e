#pragma once

#include <memory>

#include "sys/own_signals.h"

namespace outlast::sys {

// A handler that writes the number into a pipe, and nothing else. Not a signalfd: for that the
// signal must be blocked in every thread, also in those that libraries have started before, and
// children would have to be freed of the mask. Blocking calls of other threads are not disturbed
// (SA_RESTART). Signals belong to the whole process, so there is one subscription in it, however
// many of these there are.
std::unique_ptr<OwnSignals> make_posix_own_signals();

}  // namespace outlast::sys
