#include "sim/kernel.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/threads.h"

namespace outlast::sim {

// A simulated thread.
class Kernel::Task {
 public:
  enum class State { kReady, kBlocked, kEnded };

  Task(Domain& home, std::string called, std::function<void()> function)
      : domain(home), name(std::move(called)), body(std::move(function)) {}

  Domain& domain;
  const std::string name;
  std::function<void()> body;
  State state = State::kReady;
  MonoTime wake_at = kNever;  // while blocked
  bool notified = false;      // by wake(), since it blocked
  bool mortal = true;         // death of its domain wakes it
  std::string waits_for;
  std::vector<Task*> joiners;
  int locks_held = 0;  // of simulated monitors

  std::thread thread;
  std::condition_variable turn;
  bool has_turn = false;
};

Error gone_error() {
  return {ErrorCode::kCancelled, "this machine is gone"};
}

Kernel::Kernel(const KernelOptions& options)
    : options_(options), random_(options.seed), trace_(options.keep_trace) {
  root_.name = "outside";
}

Kernel::~Kernel() = default;

Outcome Kernel::run(std::function<void()> body) {
  OUTLAST_CHECK(births_ == 0, "run() was called before, on {}", root_.name);
  Task& first = spawn(root_, "main", std::move(body));
  {
    std::unique_lock lock(baton_);
    running_ = &first;
    first.has_turn = true;
    first.turn.notify_one();
    ended_.wait(lock, [this] { return all_ended_; });
  }
  reap();
  if (escaped_) std::rethrow_exception(escaped_);
  return {.ok = failure_.empty(),
          .failure = failure_,
          .trace_hash = trace_.hash(),
          .next_draw = random_.next(),
          .steps = steps_,
          .switches = switches_,
          .time = now_.time_since_epoch(),
          .trace = trace_.lines()};
}

Kernel::Task& Kernel::spawn(Domain& domain, std::string name, std::function<void()> body) {
  reap();
  ++births_;
  tasks_.push_back(
      std::make_unique<Task>(domain, fmt::format("{}/{}", domain.name, name), std::move(body)));
  Task& task = *tasks_.back();
  task.thread = std::thread([this, &task] { start(task); });
  live_.push_back(&task);
  return task;
}

// The life of a task's thread, from its first turn to its last.
void Kernel::start(Task& task) {
  {
    std::unique_lock lock(baton_);
    task.turn.wait(lock, [&task] { return task.has_turn; });
    task.has_turn = false;
  }
  try {
    if (!task.domain.dead()) task.body();
  } catch (const Gone&) {  // NOLINT(bugprone-empty-catch): to have unwound is all that dying means
  } catch (...) {
    // A bug in the code under test; run() throws it to whoever asked for the simulation.
    if (!escaped_) escaped_ = std::current_exception();
    fail(fmt::format("an exception escaped from {}", task.name));
  }
  task.body = nullptr;
  finish(task);
}

void Kernel::finish(Task& task) {
  task.state = Task::State::kEnded;
  std::erase(live_, &task);
  ended_tasks_.push_back(&task);
  for (Task* joiner : task.joiners) wake(*joiner);
  for (Task* watcher : end_watchers_) wake(*watcher);
  Task* next = choose();
  const std::unique_lock lock(baton_);
  running_ = next;
  if (next != nullptr) {
    ++switches_;
    next->has_turn = true;
    next->turn.notify_one();
  } else {
    all_ended_ = true;
    ended_.notify_one();
  }
}

void Kernel::check_no_lock_is_held(std::string_view what) {
  OUTLAST_CHECK(current().locks_held == 0 && detail::mutexes_held == 0,
                "{} makes the call '{}' while it holds a lock", current().name, what);
}

void Kernel::count_lock(int change) {
  current().locks_held += change;
}

bool Kernel::step(std::string_view what, std::string_view detail) {
  Task& self = current();
  if (self.domain.dead()) {
    if (std::uncaught_exceptions() > 0) return false;
    throw Gone{};
  }
  check_no_lock_is_held(what);
  trace_.add(now_, self.name, what, detail);
  if (++steps_ > options_.steps_max) fail(fmt::format("no end after {} steps", options_.steps_max));
  if (now_.time_since_epoch() > options_.time_max) fail("no end in the time allowed");
  now_ += std::chrono::microseconds(1 + random_.below(20));

  roll_for_death(self.domain);

  pass_baton(self);
  if (!self.domain.dead()) return true;
  if (std::uncaught_exceptions() > 0) return false;
  throw Gone{};
}

// What a process does counts as a call of its machine: the nearest domain that can die by chance.
void Kernel::roll_for_death(Domain& caller) {
  Domain* domain = &caller;
  while (domain->parent != nullptr && !domain->die) domain = domain->parent;
  ++domain->calls;
  const bool dies = domain->death_at_call ? domain->calls == *domain->death_at_call
                                          : random_.chance(domain->death_per_call);
  if (dies && domain->die) domain->die();
}

void Kernel::note(std::string_view what, std::string_view detail) {
  trace_.add(now_, running_ != nullptr ? running_->name : root_.name, what, detail);
}

sys::Woken Kernel::block(std::string_view what, const sys::CallContext& ctx) {
  Task& self = current();
  check_no_lock_is_held(what);
  if (ctx.stop.stop_requested()) return sys::Woken::kStopped;
  if (self.domain.dead()) return sys::Woken::kStopped;
  self.state = Task::State::kBlocked;
  self.notified = false;
  self.wake_at = ctx.deadline;
  self.waits_for = what;
  // Runs on whichever simulated thread asks for the stop, which holds the baton.
  bool stopped = false;
  const std::stop_callback on_stop(ctx.stop, [&] {
    stopped = true;
    self.state = Task::State::kReady;
  });
  pass_baton(self);
  if (self.notified) return sys::Woken::kNotified;
  return stopped || self.domain.dead() ? sys::Woken::kStopped : sys::Woken::kDeadline;
}

void Kernel::wake(Task& task) {
  // Also if a deadline or a stop woke it first, but it has not run since: what it waited for is
  // there.
  task.notified = true;
  if (task.state == Task::State::kBlocked) task.state = Task::State::kReady;
}

void Kernel::throw_if_gone() {
  if (current().domain.dead() && std::uncaught_exceptions() == 0) throw Gone{};
}

void Kernel::join(Task& task) {
  check_no_lock_is_held("join");
  Task& self = current();
  self.mortal = false;
  while (task.state != Task::State::kEnded) {
    task.joiners.push_back(&self);
    self.state = Task::State::kBlocked;
    self.notified = false;
    self.wake_at = kNever;
    self.waits_for = fmt::format("the end of {}", task.name);
    pass_baton(self);
  }
  self.mortal = true;
}

sys::Woken Kernel::wait_for_an_end(std::string_view what, const sys::CallContext& ctx) {
  Task* const self = &current();
  end_watchers_.push_back(self);
  const sys::Woken woken = block(what, ctx);
  std::erase(end_watchers_, self);
  throw_if_gone();
  return woken;
}

Kernel::Task& Kernel::current() {
  OUTLAST_CHECK(running_ != nullptr, "a simulated call outside of run(), at {} steps", steps_);
  return *running_;
}

Domain& Kernel::current_domain() {
  return current().domain;
}

void Kernel::kill(Domain& domain) {
  if (!domain.alive) return;
  domain.alive = false;
  for (Task* task : live_) {
    if (task->state == Task::State::kBlocked && task->mortal && task->domain.dead()) {
      task->state = Task::State::kReady;
    }
  }
}

bool Kernel::has_threads(const Domain& domain) const {
  return std::any_of(live_.begin(), live_.end(), [&](const Task* task) {
    for (const Domain* d = &task->domain; d != nullptr; d = d->parent) {
      if (d == &domain) return true;
    }
    return false;
  });
}

void Kernel::fail(std::string why) {
  if (failure_.empty()) {
    failure_ = std::move(why);
    note("FAILED", failure_);
  }
  abort_all();
}

// Everything belongs to the root, so everything unwinds.
void Kernel::abort_all() {
  aborting_ = true;
  kill(root_);
}

// Gives the turn to whoever is chosen and returns when `self` is chosen again.
void Kernel::pass_baton(Task& self) {
  Task* next = choose();
  if (next == &self) return;
  OUTLAST_CHECK(next != nullptr, "{} waits for {} and nobody can run", self.name, self.waits_for);
  std::unique_lock lock(baton_);
  ++switches_;
  running_ = next;
  next->has_turn = true;
  next->turn.notify_one();
  self.turn.wait(lock, [&self] { return self.has_turn; });
  self.has_turn = false;
}

// A random one of those that can run; if none can, time jumps to the next deadline. nullptr when
// all have ended.
Kernel::Task* Kernel::choose() {
  std::vector<Task*> ready;
  while (true) {
    MonoTime next_deadline = kNever;
    for (Task* task : live_) {
      if (task->state == Task::State::kBlocked && task->wake_at <= now_) {
        task->state = Task::State::kReady;
      }
      if (task->state == Task::State::kReady) ready.push_back(task);
      if (task->state == Task::State::kBlocked) {
        next_deadline = std::min(next_deadline, task->wake_at);
      }
    }
    if (!ready.empty()) return ready[random_.below(ready.size())];
    if (live_.empty()) return nullptr;
    if (next_deadline != kNever) {
      now_ = next_deadline;
      continue;
    }
    OUTLAST_CHECK(!aborting_, "a thread cannot unwind: {}", waiting_tasks());
    fail(fmt::format("deadlock: {}", waiting_tasks()));
  }
}

std::string Kernel::waiting_tasks() const {
  std::string text;
  for (const Task* task : live_) {
    if (task->state != Task::State::kBlocked) continue;
    text += fmt::format("{}{} waits for {}", text.empty() ? "" : "; ", task->name, task->waits_for);
  }
  return text;
}

// Joins the threads that have handed on the baton for the last time. Their tasks stay, because
// others may still hold a reference to join().
void Kernel::reap() {
  for (Task* task : ended_tasks_) task->thread.join();
  ended_tasks_.clear();
}

}  // namespace outlast::sim
