#include "cloud/caching_credentials.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "cloud/credentials.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::cloud {
namespace {

// These belong to the thread that fetched, not to those that waited for it.
bool is_of_the_caller(ErrorCode code) {
  return code == ErrorCode::kCancelled || code == ErrorCode::kDeadlineExceeded;
}

}  // namespace

template <typename T>
CachingCredentials<T>::CachingCredentials(std::unique_ptr<CredentialFetcher<T>> fetcher,
                                          sys::Clock& clock, sys::Threads& threads)
    : fetcher_(std::move(fetcher)), clock_(clock), monitor_(threads.make_monitor()) {}

template <typename T>
typename CachingCredentials<T>::Freshness CachingCredentials<T>::freshness_of_kept(
    MonoTime mono, WallTime wall) const {
  if (!kept_) return Freshness::kExpired;
  if (!kept_->fetched.lifetime) return Freshness::kGood;
  // Whichever clock says more: the steady one stands still while a laptop sleeps, the other jumps.
  const Duration age = std::max(mono - kept_->mono_start, wall - kept_->wall_start);
  const Duration lifetime = *kept_->fetched.lifetime;
  if (age >= lifetime) return Freshness::kExpired;
  const bool soon = lifetime - age <= std::min(kRefreshBefore, lifetime / 2);
  return soon && mono >= kept_->not_before ? Freshness::kRefresh : Freshness::kGood;
}

template <typename T>
Result<T> CachingCredentials<T>::get(const sys::CallContext& ctx) {
  MonoTime mono = clock_.mono_now();
  WallTime wall = clock_.wall_now();
  {
    const std::unique_lock lock(*monitor_);
    const std::uint64_t ended_before = fetches_ended_;
    while (true) {
      const Freshness freshness = freshness_of_kept(mono, wall);
      const bool usable =
          freshness == Freshness::kGood || (fetching_ && freshness == Freshness::kRefresh);
      if (usable && kept_) return kept_->fetched.value;
      if (!fetching_) {
        // A fetch that failed while we waited for it has failed for us, too.
        if (fetches_ended_ != ended_before && last_error_) return *last_error_;
        fetching_ = true;
        break;
      }
      const sys::Woken why = monitor_->wait(ctx);
      if (why == sys::Woken::kStopped) {
        return Error(ErrorCode::kCancelled, "stopped while waiting for credentials");
      }
      if (why == sys::Woken::kDeadline) {
        return Error(ErrorCode::kDeadlineExceeded, "credentials did not come in time");
      }
    }
  }
  // Before the fetch: the answer's lifetime may have begun then.
  mono = clock_.mono_now();
  wall = clock_.wall_now();
  Result<Fetched<T>> fetched = fetcher_->fetch(ctx);
  const MonoTime mono_after = clock_.mono_now();
  const WallTime wall_after = clock_.wall_now();

  const std::unique_lock lock(*monitor_);
  fetching_ = false;
  ++fetches_ended_;
  monitor_->notify_all();
  if (fetched) {
    last_error_.reset();
    kept_ = Kept{.fetched = *std::move(fetched), .mono_start = mono, .wall_start = wall};
    return kept_->fetched.value;
  }
  last_error_.reset();
  if (!is_of_the_caller(fetched.error().code())) last_error_ = fetched.error();
  if (freshness_of_kept(mono_after, wall_after) != Freshness::kExpired) {
    kept_->not_before = saturating_add(mono_after, kRefreshAgainAfter);
    return kept_->fetched.value;
  }
  return std::move(fetched).error();
}

template <typename T>
void CachingCredentials<T>::forget() {
  const std::unique_lock lock(*monitor_);
  if (!monitor_->caller_is_gone()) kept_.reset();
}

template <typename T>
std::string CachingCredentials<T>::origin() {
  const std::unique_lock lock(*monitor_);
  return kept_ ? kept_->fetched.origin : "";
}

template class CachingCredentials<AwsKeys>;
template class CachingCredentials<BearerToken>;
template class CachingCredentials<AzureAuth>;

}  // namespace outlast::cloud
