#pragma once

#include <string>

#include "agent/attempts.h"
#include "base/json.h"
#include "cli/program/terminal.h"

namespace outlast::cli {

// "2026-11-16 13:40:00Z  attempt 3  resumed at step 400", in its level's colour.
std::string event_text(const agent::AttemptEvent& one, const Terminal& terminal);
// As it is stored, and "attempt".
Json event_json(const agent::AttemptEvent& one);

}  // namespace outlast::cli
