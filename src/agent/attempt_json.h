#pragma once

#include <string_view>

#include "agent/attempt_record.h"
#include "base/json.h"
#include "base/result.h"

// What the record of an attempt and its beat have in common. Part of them; not for use elsewhere.
namespace outlast::agent {

Json agent_id_json(const AgentId& agent);
// Of the whole text, which has it as "agent".
Result<AgentId> agent_id_from(const Json& paper);

Result<AttemptOutcome> outcome_from(const Json& object, std::string_view key);

}  // namespace outlast::agent
