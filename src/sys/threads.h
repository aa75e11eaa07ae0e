#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "base/time.h"
#include "sys/call_context.h"

namespace outlast::sys {

// Why Monitor::wait() came back.
enum class Woken { kNotified, kDeadline, kStopped };

// A lock and a condition in one: what an Inbox is made of, and hardly anything else. Held only for
// a few lines, never across another sys call. Thread-safe.
class Monitor {
 public:
  virtual ~Monitor() = default;
  // BasicLockable, so that std::unique_lock<Monitor> works.
  virtual void lock() = 0;
  virtual void unlock() = 0;
  // Locked on entry and on return; unlocked while it waits. May return kNotified without cause:
  // look at the condition again.
  virtual Woken wait(const CallContext& ctx) = 0;
  // Call it locked.
  virtual void notify_all() = 0;
  // In simulation: the caller unwinds because its machine is gone, and must have no effect any
  // more. Never in the real world, where such a caller does not run.
  virtual bool caller_is_gone() = 0;
};

// A running thread and its owner. Joins when destroyed, after asking it to stop. Confined to its
// owner.
class Thread {
 public:
  virtual ~Thread() = default;
  virtual void request_stop() = 0;
  // Returns when the thread's function has returned. Idempotent.
  virtual void join() = 0;
};

// Makes threads and what they wait on. Thread-safe.
class Threads {
 public:
  virtual ~Threads() = default;
  // Runs `body` on a thread called `name` (15 characters show in ps and in a debugger). The token
  // says when the owner wants it to end; pass it on in the CallContext of whatever the thread waits
  // for. `body` must not throw.
  virtual std::unique_ptr<Thread> spawn(std::string name,
                                        std::function<void(std::stop_token)> body) = 0;
  virtual std::unique_ptr<Monitor> make_monitor() = 0;
  // From now on the calling thread, and whatever it spawns, takes hardly more of the processors
  // than nobody else wants. There is no way back. Where the system does not allow it, nothing
  // changes.
  virtual void stand_back() = 0;
};

}  // namespace outlast::sys
