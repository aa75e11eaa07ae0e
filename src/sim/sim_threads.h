#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/threads.h"

namespace outlast::sim {

// Virtual time. The wall clock starts at a fixed moment and can be set wrong.
class SimClock : public sys::Clock {
 public:
  explicit SimClock(Kernel& kernel) : kernel_(kernel) {}
  MonoTime mono_now() override;
  WallTime wall_now() override;
  Result<void> sleep_until(MonoTime when, const sys::CallContext& ctx) override;

  // The wall clock jumps by this much; the monotonic one does not.
  void jump(Duration by) { offset_ += by; }
  // What wall_now() says, without a scheduling point: for the simulated world itself.
  WallTime wall() const;

 private:
  Kernel& kernel_;
  Duration offset_{};
};

// Threads that run one at a time, in the domain of whoever spawns them.
class SimThreads : public sys::Threads {
 public:
  explicit SimThreads(Kernel& kernel) : kernel_(kernel) {}
  std::unique_ptr<sys::Thread> spawn(std::string name,
                                     std::function<void(std::stop_token)> body) override;
  std::unique_ptr<sys::Monitor> make_monitor() override;
  void stand_back() override {}  // chance decides who runs

 private:
  Kernel& kernel_;
};

}  // namespace outlast::sim
