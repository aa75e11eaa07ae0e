#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/event.h"
#include "base/result.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/call_context.h"

// What attempts have left in a job's folder of the root, for those who come later. `job` is a store
// whose keys lie in that folder.
namespace outlast::agent {

// Rising; one listing. Not every fence of the log is an attempt's, so that there may be gaps.
Result<std::vector<job::Epoch>> list_attempts(store::ObjectStore& job, const sys::CallContext& ctx);

// kNotFound if there is none (yet); else as decode_attempt().
Result<AttemptRecord> read_attempt(store::ObjectStore& job, job::Epoch epoch,
                                   const sys::CallContext& ctx);

struct AttemptEvent {
  job::Epoch epoch = 0;
  Event event = {};
};
// The newest `count` events of these attempts, which rise; oldest first. Reads only the ends of the
// streams. Lines that cannot be read are left out.
Result<std::vector<AttemptEvent>> last_events(store::ObjectStore& job,
                                              const std::vector<job::Epoch>& epochs,
                                              std::size_t count, const sys::CallContext& ctx);

// Takes the complete lines, without their ends, off the front of `text`.
std::vector<std::string> take_lines(std::string& text);

}  // namespace outlast::agent
