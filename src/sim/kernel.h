#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "sim/trace.h"
#include "sys/call_context.h"
#include "sys/threads.h"

// The baton scheduler. Product code in a simulation is ordinary blocking code on ordinary threads,
// but only the thread that holds the baton runs. Every call into the simulated sys is a scheduling
// point: there the kernel, from one seeded Random, lets time pass, decides whether the machine
// dies, and chooses who runs next. So one seed is one history.
//
// All state here and in the simulated world is touched only by the holder of the baton (or by the
// thread that calls run(), before and after), so none of it has a lock; handing over the baton
// orders the memory.
namespace outlast::sim {

// Thrown out of a sys call when the machine or process that makes it is no more, so that the stack
// unwinds and nothing happens after the end. Nobody throws it but the kernel, and nobody may
// swallow it. While a thread unwinds, sys calls return gone_error() instead. A destructor or
// a stop callback must therefore not make sys calls when nothing is in flight; the destructors of
// File, Thread and Process are safe.
struct Gone {};
Error gone_error();

// What dies together: a machine in one of its lives, or a process on it. Dead when it or what it
// belongs to is dead.
struct Domain {
  std::string name;
  Domain* parent = nullptr;
  bool alive = true;
  // Chance at every sys call made in it, or in a child that has no `die` of its own, that `die` is
  // called.
  double death_per_call = 0;
  // Or: death exactly at this call, counted from 1.
  std::optional<std::uint64_t> death_at_call;
  std::function<void()> die;
  std::uint64_t calls = 0;

  bool dead() const { return !alive || (parent != nullptr && parent->dead()); }
};

struct KernelOptions {
  std::uint64_t seed = 1;
  std::uint64_t steps_max = 2'000'000;               // more is a livelock
  Duration time_max = std::chrono::hours(24 * 365);  // virtual
  bool keep_trace = false;                           // remember the lines of the trace
};

// How a simulation ended.
struct Outcome {
  bool ok = true;
  std::string failure;           // why not
  std::uint64_t trace_hash = 0;  // equal for equal seeds, in every build
  std::uint64_t next_draw = 0;   // of the kernel's Random: differs if the histories did
  std::uint64_t steps = 0;
  std::uint64_t switches = 0;      // of the baton between threads
  Duration time{};                 // that passed, virtually
  std::vector<std::string> trace;  // if kept
};

class Kernel {
 public:
  explicit Kernel(const KernelOptions& options);
  ~Kernel();

  // Runs `body` as the first simulated thread, in a domain that does not die, until every thread
  // has ended. Once per kernel. An exception that escapes a thread (but Gone) is thrown again here.
  Outcome run(std::function<void()> body);

  // --- For the simulated world; called by the holder of the baton only. ---

  // The scheduling point at the start of every sys call. True: go on and do the call. Throws Gone
  // if the caller's domain is dead, or returns false if the caller already unwinds: then do nothing
  // and return gone_error().
  [[nodiscard]] bool step(std::string_view what, std::string_view detail = {});
  // A line in the trace without a scheduling point.
  void note(std::string_view what, std::string_view detail = {});

  class Task;
  // Suspends the caller until wake(), the context, or the death of its domain; check the condition
  // afterwards. Never throws: if the domain may be dead, throw_if_gone() comes next. `what` shows
  // in reports of a deadlock.
  sys::Woken block(std::string_view what, const sys::CallContext& ctx);
  void wake(Task& task);
  void throw_if_gone();
  // The caller took (+1) or gave back (-1) a simulated lock. It may make no call while it has one.
  void count_lock(int change);
  // Suspends the caller until `task` has ended, whatever happens to its own domain: both die
  // together.
  void join(Task& task);

  // Suspends the caller until some thread, any, has ended: for waiting for the end of a whole
  // domain.
  sys::Woken wait_for_an_end(std::string_view what, const sys::CallContext& ctx);

  Task& spawn(Domain& domain, std::string name, std::function<void()> body);
  Task& current();
  Domain& current_domain();
  Domain& root_domain() { return root_; }
  // Marks the domain dead; its threads unwind when they next run. The caller too, at its next call.
  void kill(Domain& domain);
  // Whether any thread of the domain still runs or unwinds.
  bool has_threads(const Domain& domain) const;

  // Ends the simulation as failed: an invariant does not hold. Only the first reason counts.
  void fail(std::string why);

  MonoTime now() const { return now_; }
  Random& random() { return random_; }

 private:
  void check_no_lock_is_held(std::string_view what);
  void roll_for_death(Domain& caller);
  void start(Task& task);
  void finish(Task& task);
  void pass_baton(Task& self);
  Task* choose();
  void abort_all();
  void reap();
  std::string waiting_tasks() const;

  const KernelOptions options_;
  Random random_;
  Trace trace_;
  MonoTime now_;
  Domain root_;
  std::vector<std::unique_ptr<Task>> tasks_;  // all that ever were: somebody may still join them
  std::vector<Task*> live_;                   // those that have not ended, in order of birth
  std::vector<Task*> ended_tasks_;            // whose real threads are still to be joined
  std::vector<Task*> end_watchers_;
  Task* running_ = nullptr;
  std::uint64_t births_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t switches_ = 0;
  std::string failure_;
  bool aborting_ = false;
  std::exception_ptr escaped_;

  std::mutex baton_;  // only orders the hand-over
  std::condition_variable ended_;
  bool all_ended_ = false;
};

}  // namespace outlast::sim
