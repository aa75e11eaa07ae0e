#include "sim/sim_process.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sim/sim_own_signals.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/process.h"
#include "sys/threads.h"

namespace outlast::sim {
namespace {

constexpr std::size_t kPipeBytes = 64U << 10U;  // as Linux has it

}  // namespace

// Shared by its own thread and by the handle its parent holds, because either may end first.
class RunningProgram : public SimProcessSelf {
 public:
  RunningProgram(Kernel& kernel, SimOwnSignals& own_signals, Domain& domain, sys::ProcessSpec spec,
                 int pid)
      : kernel_(kernel),
        own_signals_(own_signals),
        domain_(domain),
        spec_(std::move(spec)),
        pid_(pid) {
    Domain* const starter = &kernel.current_domain();
    Domain* machine = starter;
    while (machine->parent != nullptr && machine->parent->parent != nullptr) {
      machine = machine->parent;
    }
    domain_.name = fmt::format("{}/{}:{}", machine->name, spec_.argv.front(), pid);
    domain_.parent = spec_.dies_with_us ? starter : machine;
  }

  Domain& domain() { return domain_; }
  int pid() const { return pid_; }
  bool is_alive() const { return !status_ && !domain_.dead(); }
  const std::set<int>& handled() const { return handled_; }

  // --- The program's side. ---
  const sys::ProcessSpec& spec() const override { return spec_; }
  void out(std::string_view text) override { write(spec_.out, text); }
  void err(std::string_view text) override { write(spec_.err, text); }
  void handle(int signal_number) override {
    if (kernel_.step("handle")) handled_.insert(signal_number);
  }

  Result<int> next_signal(const sys::CallContext& ctx) override {
    if (!kernel_.step("next_signal")) return gone_error();
    while (signals_.empty()) {
      const sys::Woken woken = wait_for("a signal", ctx);
      if (woken == sys::Woken::kStopped) return Error(ErrorCode::kCancelled, "stopped");
      if (woken == sys::Woken::kDeadline) return Error(ErrorCode::kDeadlineExceeded, "no signal");
    }
    const int number = signals_.front();
    signals_.pop_front();
    return number;
  }

  void end(sys::ExitStatus status) {
    if (status_) return;
    status_ = status;
    kernel_.note("process.end", fmt::format("{} {}", domain_.name, sys::to_string(status)));
    kernel_.kill(domain_);
    wake_all();
  }

  // --- The parent's side. ---
  void deliver(int number) {
    kernel_.note("signal", fmt::format("{} to {}", number, domain_.name));
    if (status_ || own_signals_.deliver(domain_, number)) return;
    if (number == SIGKILL || !handled_.contains(number)) {
      if (ends_a_process(number)) end(sys::Signaled{number});
      return;
    }
    signals_.push_back(number);
    wake_all();
  }

  Result<sys::ExitStatus> wait(const sys::CallContext& ctx) {
    if (!kernel_.step("wait", domain_.name)) return gone_error();
    while (true) {
      while (!written_.empty()) {
        const auto [sink, text] = std::move(written_.front());
        written_.pop_front();
        pipe_bytes_ -= text.size();
        wake_all();
        (*sink)(text);
        // Also after output: a child that never stops writing must not outrun its deadline.
        if (status_) continue;
        if (ctx.stop.stop_requested()) return stopped();
        if (kernel_.now() >= ctx.deadline) return still_running();
      }
      if (status_) return *status_;
      const sys::Woken woken = wait_for(domain_.name, ctx);
      if (woken == sys::Woken::kStopped) return stopped();
      if (woken == sys::Woken::kDeadline) return still_running();
    }
  }

 private:
  static Error stopped() { return {ErrorCode::kCancelled, "stopped while waiting for a process"}; }
  static Error still_running() {
    return {ErrorCode::kDeadlineExceeded, "the process is still running"};
  }

  void write(const sys::Output& output, std::string_view text) {
    if (!kernel_.step("write", text)) return;
    const auto* sink = std::get_if<sys::Output::Sink>(&output.target);
    if (sink == nullptr) return;
    while (pipe_bytes_ > 0 && pipe_bytes_ + text.size() > kPipeBytes) {
      (void)wait_for("room in a pipe", {});
      if (kernel_.current_domain().dead()) return;
    }
    pipe_bytes_ += text.size();
    written_.emplace_back(sink, text);
    wake_all();
  }

  sys::Woken wait_for(std::string_view what, const sys::CallContext& ctx) {
    Kernel::Task* const self = &kernel_.current();
    waiting_.push_back(self);
    const sys::Woken woken = kernel_.block(what, ctx);
    std::erase(waiting_, self);
    kernel_.throw_if_gone();
    return woken;
  }

  void wake_all() {
    for (Kernel::Task* task : waiting_) kernel_.wake(*task);
    waiting_.clear();
  }

  Kernel& kernel_;
  SimOwnSignals& own_signals_;
  Domain& domain_;
  const sys::ProcessSpec spec_;
  const int pid_;
  std::set<int> handled_;
  std::deque<int> signals_;
  std::optional<sys::ExitStatus> status_;
  std::deque<std::pair<const sys::Output::Sink*, std::string>> written_;
  std::size_t pipe_bytes_ = 0;
  std::vector<Kernel::Task*> waiting_;
};

namespace {

class SimProcess : public sys::Process {
 public:
  SimProcess(Kernel& kernel, std::shared_ptr<RunningProgram> running)
      : kernel_(kernel), running_(std::move(running)) {}
  ~SimProcess() override {
    // Who was killed has no destructors that could kill in turn.
    if (running_->spec().dies_with_us || !kernel_.current_domain().dead()) {
      running_->end(sys::Signaled{SIGKILL});
    }
  }

  int pid() const override { return running_->pid(); }
  Result<void> signal(int number) override {
    if (!kernel_.step("signal", fmt::format("{} to {}", number, running_->domain().name))) {
      return gone_error();
    }
    running_->deliver(number);
    return {};
  }
  Result<void> signal_group(int number) override { return signal(number); }
  Result<sys::ExitStatus> wait(const sys::CallContext& ctx) override { return running_->wait(ctx); }

 private:
  Kernel& kernel_;
  std::shared_ptr<RunningProgram> running_;  // shared with the program's thread
};

}  // namespace

bool ends_a_process(int signal_number) {
  switch (signal_number) {
    case 0:
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGSTOP:  // nobody is stopped in simulation: a process that is may also just be slow
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return false;
    default:
      return true;
  }
}

SimProgram make_program(sys::Clock& clock, ProcessScript script) {
  return [&clock, script = std::move(script)](SimProcessSelf& self) -> int {
    if (!script.prints.empty()) self.out(script.prints);
    if (script.ignores_term_for > Duration::zero()) self.handle(SIGTERM);
    const MonoTime end = saturating_add(clock.mono_now(), script.runs_for);
    const Result<int> signal = self.next_signal({.deadline = end});
    if (!signal) return script.exits_with;
    (void)clock.sleep_for(script.ignores_term_for, {});
    return script.exits_after_term_with;
  };
}

Result<std::unique_ptr<sys::Process>> SimProcessLauncher::spawn(sys::ProcessSpec spec) {
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return Error(ErrorCode::kInvalidArgument, "there is no program to run");
  }
  if (!kernel_.step("process.start", spec.argv.front())) return gone_error();
  const auto program = programs_.find(spec.argv.front());
  if (program == programs_.end()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("run {}: No such file or directory", spec.argv.front()));
  }
  const int parent = pid_of(kernel_.current_domain());
  born_.push_back({.parent = parent, .domain = std::make_unique<Domain>()});
  auto running = std::make_shared<RunningProgram>(kernel_, own_signals_, *born_.back().domain,
                                                  std::move(spec), next_pid_++);
  born_.back().program = running;
  kernel_.spawn(running->domain(), "main",
                [running, body = program->second] { running->end(sys::Exited{body(*running)}); });
  return std::make_unique<SimProcess>(kernel_, std::move(running));
}

std::vector<SimProcessLauncher::Alive> SimProcessLauncher::alive() const {
  std::vector<Alive> result;
  for (const Born& born : born_) {
    const std::shared_ptr<RunningProgram> program = born.program.lock();
    if (!program || !program->is_alive()) continue;
    result.push_back({.pid = program->pid(),
                      .parent = born.parent,
                      .domain = born.domain.get(),
                      .handled = {program->handled().begin(), program->handled().end()}});
  }
  return result;
}

int SimProcessLauncher::pid_of(const Domain& domain) const {
  const auto found = std::find_if(born_.begin(), born_.end(),
                                  [&](const Born& born) { return born.domain.get() == &domain; });
  return found == born_.end() ? 1 : kFirstPid + static_cast<int>(found - born_.begin());
}

void SimProcessLauncher::deliver(int pid, int signal_number) {
  const Born& born = born_.at(static_cast<std::size_t>(pid - kFirstPid));
  if (const auto program = born.program.lock(); program && program->is_alive()) {
    program->deliver(signal_number);
  }
}

}  // namespace outlast::sim
