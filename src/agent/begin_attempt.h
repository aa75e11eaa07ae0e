#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/event.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "job/log_entry.h"
#include "job/retry_budget.h"
#include "job/spec.h"
#include "store/object_store.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::agent {

struct BeginRequest {
  job::Spec spec = {};
  AgentId agent = {};
  std::string writer = {};      // for the log: machine and process
  bool take_over_now = false;   // also from an attempt that seems to live
  job::Epoch seen_here = 0;     // the newest attempt that was in the folder where we work
  Duration root_patience = {};  // how long a root that does not answer is asked
  std::function<void(EventLevel, std::string kind, std::string sentence)> tell = {};
};

// It is our turn.
struct Begun {
  std::unique_ptr<checkpoint::Checkpoints> checkpoints = {};
  job::Epoch epoch = 0;
  std::vector<job::AttemptEnd> ends = {};  // of the attempts before
};

// Takes the job over: waits until whoever has it is heard of no more, writes the fence, and learns
// how the attempt before ended. If the job has come to an end, nothing is written, and the entry
// that ended it is returned. kUnavailable, saying for how long was tried, if the root does not
// answer, or does not know the attempt that was here: it is another one, or is not mounted yet.
Result<std::variant<Begun, job::LogEntry>> begin_attempt(store::ObjectStore& root,
                                                         sys::World& world,
                                                         const BeginRequest& request,
                                                         const sys::CallContext& ctx);

// Whether the same may work later: the root is away, or slow.
bool may_come_back(const Error& error);

// This process on this machine.
AgentId this_agent(sys::World& world);

}  // namespace outlast::agent
