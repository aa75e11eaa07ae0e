#include "store/limited_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/result.h"
#include "store/around_store.h"
#include "store/inner_store.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::store {

LimitedStore::LimitedStore(InnerStore inner, sys::Threads& threads, const LimitOptions& options)
    : AroundStore(std::move(inner)),
      options_(options),
      monitor_(threads.make_monitor()),
      limit_(options.start) {
  OUTLAST_CHECK(1 <= options.min && options.min <= options.start && options.start <= options.max,
                "a limit of {} within {} to {}", options.start, options.min, options.max);
}

std::uint32_t LimitedStore::limit() const {
  const std::unique_lock lock(*monitor_);
  return limit_;
}

std::uint32_t LimitedStore::in_flight() const {
  const std::unique_lock lock(*monitor_);
  return in_flight_;
}

Result<AroundStore::Ticket> LimitedStore::before(const StoreCall& call,
                                                 const sys::CallContext& ctx) {
  sys::Woken woken = sys::Woken::kNotified;
  {
    const std::unique_lock lock(*monitor_);
    while (in_flight_ >= limit_ && woken == sys::Woken::kNotified) woken = monitor_->wait(ctx);
    if (woken == sys::Woken::kNotified) {
      ++in_flight_;
      return halvings_;
    }
  }
  const bool stopped = woken == sys::Woken::kStopped;
  return Error(stopped ? ErrorCode::kCancelled : ErrorCode::kDeadlineExceeded,
               fmt::format("{}: {} while it waited for its turn", url_of(call.key),
                           stopped ? "stopped" : "the deadline passed"));
}

std::optional<Error> LimitedStore::after(const StoreCall& /*call*/, Ticket ticket,
                                         const Error* error, const sys::CallContext& /*ctx*/) {
  const std::unique_lock lock(*monitor_);
  // A limit that nobody comes near is not raised: it would say nothing about the store.
  const bool felt = in_flight_ * 2 >= limit_;
  --in_flight_;
  if (error == nullptr && felt && ++successes_ >= limit_) {
    limit_ = std::min(limit_ + 1, options_.max);
    successes_ = 0;
  }
  if (error != nullptr && error->code() == ErrorCode::kThrottled && ticket == halvings_) {
    limit_ = std::max(limit_ / 2, options_.min);
    successes_ = 0;
    ++halvings_;
  }
  monitor_->notify_all();
  return std::nullopt;
}

}  // namespace outlast::store
