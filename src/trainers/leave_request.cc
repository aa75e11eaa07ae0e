#include "trainers/leave_request.h"

#include <csignal>
#include <memory>
#include <stop_token>
#include <utility>

#include "base/result.h"
#include "sys/own_signals.h"
#include "sys/threads.h"

namespace outlast::trainers {

LeaveRequest::LeaveRequest(sys::OwnSignals& signals, sys::Threads& threads) {
  Result<std::unique_ptr<sys::SignalSubscription>> heard = signals.subscribe({SIGTERM, SIGINT});
  if (!heard) return;
  // Shared by the thread's function and its copies, as std::function wants to be copied.
  std::shared_ptr<sys::SignalSubscription> subscription = std::move(*heard);
  listener_ = threads.spawn("leave", [this, subscription](const std::stop_token& stop) mutable {
    const Result<int> signal = subscription->next({.stop = stop});
    subscription.reset();
    if (signal) made_ = true;
  });
}

LeaveRequest::~LeaveRequest() = default;

}  // namespace outlast::trainers
