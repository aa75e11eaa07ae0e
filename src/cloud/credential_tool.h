#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::cloud {

// Runs a program that prints credentials and gives what it printed. Its standard error is dropped:
// nobody knows what it would put there. kNotFound if it is not installed; kPermissionDenied if it
// fails, telling to run it by hand; kUnavailable if it takes longer than a minute; kFailed if it
// prints more than 1 MiB.
Result<Secret<std::string>> run_credential_tool(sys::World& world,
                                                const std::vector<std::string>& argv,
                                                const sys::CallContext& ctx);

// A command line in words, as a shell splits it: quotes and backslashes, nothing else.
// kInvalidArgument for an open quote or no word at all.
Result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace outlast::cloud
