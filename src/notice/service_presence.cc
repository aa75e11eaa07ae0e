#include "notice/service_presence.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/time.h"
#include "sys/clock.h"

namespace outlast::notice {
namespace {

constexpr Duration kSayAgain = std::chrono::minutes(1);

}  // namespace

ServicePresence::ServicePresence(const Logger& log, sys::Clock& clock, std::string service)
    : log_(log.with({{"service", std::move(service)}})), clock_(clock) {}

void ServicePresence::failed(const std::string& what, const Error& error) {
  if (error.code() == ErrorCode::kCancelled) return;
  const MonoTime now = clock_.mono_now();
  {
    const MutexLock lock(mutex_);
    missing_.insert(what);
    if (is_said_ || (was_said_ && now < saturating_add(said_at_, kSayAgain))) return;
    is_said_ = true;
    was_said_ = true;
    said_at_ = now;
  }
  log_.warning("notice.service_away", {{"what", what}, {"error", error}});
}

void ServicePresence::answered(const std::string& what) {
  const MonoTime now = clock_.mono_now();
  Duration after = {};
  {
    const MutexLock lock(mutex_);
    missing_.erase(what);
    if (!missing_.empty() || !is_said_) return;
    is_said_ = false;
    after = now - said_at_;
  }
  log_.info("notice.service_back", {{"after", after}});
}

}  // namespace outlast::notice
