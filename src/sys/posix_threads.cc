#include "sys/posix_threads.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/time.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::sys {
namespace {

// A 28th of what others get, where they want all: a save beside a trainer that keeps every
// processor busy must still come to an end, and with 19 a thread would get a seventieth. With 10,
// the several threads of a save weigh so much together that the kernel moves some of them from a
// free processor to the trainer's: steps then take 7 to 11 % longer (./dev bench sdk).
constexpr int kNiceStandingBack = 15;

class PosixMonitor : public Monitor {
 public:
  void lock() override { mutex_.lock(); }
  void unlock() override { mutex_.unlock(); }

  Woken wait(const CallContext& ctx) override {
    // The count turns a bare notification into a condition, which is what lets the library combine
    // the wait with a stop token without losing a wake-up.
    const std::uint64_t seen = notifications_;
    const auto notified = [&] { return notifications_ != seen; };
    bool woken = false;
    if (ctx.deadline == kNever) {
      woken = condition_.wait(mutex_, ctx.stop, notified);
    } else {
      const std::chrono::steady_clock::time_point wake(ctx.deadline.time_since_epoch());
      woken = condition_.wait_until(mutex_, ctx.stop, wake, notified);
    }
    if (woken) return Woken::kNotified;
    return ctx.stop.stop_requested() ? Woken::kStopped : Woken::kDeadline;
  }

  void notify_all() override {
    ++notifications_;
    condition_.notify_all();
  }

  bool caller_is_gone() override { return false; }

 private:
  std::mutex mutex_;
  std::condition_variable_any condition_;
  std::uint64_t notifications_ = 0;  // guarded by mutex_
};

class PosixThread : public Thread {
 public:
  PosixThread(const std::string& name, std::function<void(std::stop_token)> body)
      : thread_([name = name.substr(0, 15), body = std::move(body)](const std::stop_token& stop) {
          pthread_setname_np(pthread_self(), name.c_str());
          body(stop);
        }) {}

  void request_stop() override { thread_.request_stop(); }
  void join() override {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::jthread thread_;
};

class PosixThreads : public Threads {
 public:
  std::unique_ptr<Thread> spawn(std::string name,
                                std::function<void(std::stop_token)> body) override {
    return std::make_unique<PosixThread>(name, std::move(body));
  }
  std::unique_ptr<Monitor> make_monitor() override { return std::make_unique<PosixMonitor>(); }
  void stand_back() override {
    // On Linux both are properties of a thread.
    const sched_param none = {};
    (void)::sched_setscheduler(0, SCHED_BATCH, &none);
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceStandingBack);
  }
};

}  // namespace

std::unique_ptr<Threads> make_posix_threads() {
  return std::make_unique<PosixThreads>();
}

}  // namespace outlast::sys
