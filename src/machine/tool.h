#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::machine {

// Runs a small program of the system (systemctl, shutdown) to its end; half a minute is enough for
// it. argv[0] is a plain name, searched in PATH and then where administrators' programs are, which
// cron's PATH does not name. kNotFound if it is nowhere; kFailed with the last line that it wrote
// if it does not end with 0.
Result<void> run_tool(sys::World& world, std::vector<std::string> argv,
                      const sys::CallContext& ctx);

// Whether this process may do everything, as far as can be seen: false only if it is known that
// another user than root runs it.
bool may_be_root(sys::World& world);

}  // namespace outlast::machine
