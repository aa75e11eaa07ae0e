#pragma once

#include <atomic>
#include <memory>

#include "sys/own_signals.h"
#include "sys/threads.h"

namespace outlast::trainers {

// Hears SIGTERM and SIGINT as long as it lives: somebody wants this trainer to save and leave. The
// second one ends the program as it always did, since nobody listens any more. Where signals cannot
// be heard, they do what they always did. Confined to its owner, but for is_made().
class LeaveRequest {
 public:
  LeaveRequest(sys::OwnSignals& signals, sys::Threads& threads);
  ~LeaveRequest();
  LeaveRequest(const LeaveRequest&) = delete;
  LeaveRequest& operator=(const LeaveRequest&) = delete;

  // Cheap enough for every step.
  bool is_made() const { return made_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> made_ = false;
  std::unique_ptr<sys::Thread> listener_;
};

}  // namespace outlast::trainers
