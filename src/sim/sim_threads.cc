#include "sim/sim_threads.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::sim {
namespace {

// 2026-01-01T00:00:00Z. Any fixed moment would do.
constexpr WallTime kBeginning{std::chrono::seconds(1'767'225'600)};

class SimMonitor : public sys::Monitor {
 public:
  explicit SimMonitor(Kernel& kernel) : kernel_(kernel) {}

  void lock() override {
    (void)kernel_.step("lock");  // false: the caller unwinds, and still gets its lock
    kernel_.count_lock(1);
  }
  void unlock() override { kernel_.count_lock(-1); }

  sys::Woken wait(const sys::CallContext& ctx) override {
    kernel_.count_lock(-1);
    Kernel::Task* const self = &kernel_.current();
    waiting_.push_back(self);
    const sys::Woken woken = kernel_.block("a message", ctx);
    std::erase(waiting_, self);
    kernel_.count_lock(1);
    kernel_.throw_if_gone();
    return woken;
  }

  void notify_all() override {
    for (Kernel::Task* task : waiting_) kernel_.wake(*task);
    waiting_.clear();
  }
  bool caller_is_gone() override { return kernel_.current_domain().dead(); }

 private:
  // No flag says that it is locked: nobody else runs before unlock(), which the kernel checks.
  Kernel& kernel_;
  std::vector<Kernel::Task*> waiting_;
};

class SimThread : public sys::Thread {
 public:
  SimThread(Kernel& kernel, const std::string& name, std::function<void(std::stop_token)> body)
      : kernel_(kernel),
        task_(kernel.spawn(kernel.current_domain(), name,
                           [body = std::move(body), stop = stop_.get_token()] { body(stop); })) {}
  ~SimThread() override {
    stop_.request_stop();
    kernel_.join(task_);
  }
  void request_stop() override { stop_.request_stop(); }
  void join() override { kernel_.join(task_); }

 private:
  Kernel& kernel_;
  std::stop_source stop_;
  Kernel::Task& task_;
};

}  // namespace

MonoTime SimClock::mono_now() {
  (void)kernel_.step("clock");
  return kernel_.now();
}

WallTime SimClock::wall_now() {
  (void)kernel_.step("clock");
  return wall();
}

WallTime SimClock::wall() const {
  return kBeginning + kernel_.now().time_since_epoch() + offset_;
}

Result<void> SimClock::sleep_until(MonoTime when, const sys::CallContext& ctx) {
  if (!kernel_.step("sleep")) return gone_error();
  while (kernel_.now() < when) {
    const sys::Woken woken = kernel_.block("the time", ctx.until(when));
    kernel_.throw_if_gone();
    if (kernel_.now() >= when) break;
    if (woken == sys::Woken::kStopped)
      return Error(ErrorCode::kCancelled, "stopped while sleeping");
    if (kernel_.now() >= ctx.deadline) {
      return Error(ErrorCode::kDeadlineExceeded, "the deadline passed while sleeping");
    }
  }
  return {};
}

std::unique_ptr<sys::Thread> SimThreads::spawn(std::string name,
                                               std::function<void(std::stop_token)> body) {
  (void)kernel_.step("spawn", name);
  return std::make_unique<SimThread>(kernel_, name, std::move(body));
}

std::unique_ptr<sys::Monitor> SimThreads::make_monitor() {
  return std::make_unique<SimMonitor>(kernel_);
}

}  // namespace outlast::sim
