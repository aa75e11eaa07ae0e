#include "sdk/copy_crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "sdk/copy_plan.h"
#include "sdk/stream_copy.h"

namespace outlast::sdk {

unsigned default_copy_threads() {
  constexpr unsigned kMost = 4;  // memory is not faster for more
  cpu_set_t usable;
  CPU_ZERO(&usable);
  // Fails only where there are more processors than it has bits for.
  if (::sched_getaffinity(0, sizeof(usable), &usable) != 0) return kMost;
  return std::clamp(static_cast<unsigned>(CPU_COUNT(&usable)), 1U, kMost);
}

CopyCrew::CopyCrew(unsigned threads) : threads_(std::max(threads, 1U)) {
  // Signals are for the trainer's own threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  for (unsigned i = 0; i < std::max(threads_ - 1, 1U); ++i) {
    try {
      crew_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      break;  // wait() copies what nobody else does
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CopyCrew::~CopyCrew() {
  wait();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : crew_) thread.join();
}

void CopyCrew::copy(const CopyJob& job, std::function<void()> when_done) {
  start(job, std::move(when_done), threads_ > 1);
  wait();
}

void CopyCrew::begin(const CopyJob& job, std::function<void()> when_done) {
  start(job, std::move(when_done), true);
}

void CopyCrew::start(const CopyJob& job, std::function<void()> when_done, bool wake_all) {
  wait();
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
    when_done_ = std::move(when_done);
    next_share_.store(0, std::memory_order_relaxed);
    has_job_ = true;
    wanted_ = wake_all ? static_cast<unsigned>(crew_.size()) : 0;
    // Without a thread of the crew or a share nobody else would notice that it is done.
    if (job.plan->shares() == 0) end_if_done();
  }
  if (wake_all) begun_.notify_all();
}

void CopyCrew::wait() {
  {
    const std::lock_guard lock(mutex_);
    if (!has_job_) return;
    ++at_it_;
  }
  take_shares();
  std::unique_lock lock(mutex_);
  --at_it_;
  end_if_done();
  done_.wait(lock, [this] { return !has_job_; });
}

void CopyCrew::work() {
  // Who wakes us must not be put off its processor by it: save_async() would seem to take a while.
  const sched_param none = {};
  ::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &none);
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [this] { return ends_ || (has_job_ && wanted_ > 0); });
    if (ends_) return;
    --wanted_;
    ++at_it_;
    lock.unlock();
    take_shares();
    lock.lock();
    --at_it_;
    end_if_done();
  }
}

// Whoever is at it counts in at_it_, so that the job stays what it is.
void CopyCrew::take_shares() {
  const CopyPlan& plan = *job_.plan;
  while (true) {
    const std::size_t number = next_share_.fetch_add(1, std::memory_order_relaxed);
    if (number >= plan.shares()) break;
    for (const Piece& piece : plan.share(number)) {
      std::byte* const there = job_.snapshot + piece.offset;
      if (job_.to == CopyTo::kSnapshot) {
        stream_copy(there, piece.memory, piece.bytes);
      } else {
        stream_copy(piece.memory, there, piece.bytes);
      }
    }
  }
  finish_stream_copies();
}

void CopyCrew::end_if_done() {
  if (!has_job_ || at_it_ > 0 ||
      next_share_.load(std::memory_order_relaxed) < job_.plan->shares()) {
    return;
  }
  if (when_done_) when_done_();
  when_done_ = {};
  has_job_ = false;
  wanted_ = 0;
  done_.notify_all();
}

}  // namespace outlast::sdk
