#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/kernel.h"
#include "sim/sim_own_signals.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/process.h"

namespace outlast::sim {

// What a simulated program sees of itself. Calls with an effect are scheduling points like any
// other.
class SimProcessSelf {
 public:
  virtual ~SimProcessSelf() = default;
  virtual const sys::ProcessSpec& spec() const = 0;
  // Writes to its standard output or error; waits while the pipe is full, as a real one does.
  virtual void out(std::string_view text) = 0;
  virtual void err(std::string_view text) = 0;
  // From now on this signal is delivered to next_signal() instead of killing the process.
  virtual void handle(int signal_number) = 0;
  // The next handled signal, waiting for one.
  virtual Result<int> next_signal(const sys::CallContext& ctx) = 0;
};

// A program: runs on a thread of its own, in a domain of its own, and returns its exit code. It
// uses the World of the machine it was installed on. Its thread dies with SIGKILL, unhandled
// signals and the machine.
using SimProgram = std::function<int(SimProcessSelf&)>;

// The commonest program: runs a while, may resist.
struct ProcessScript {
  Duration runs_for = std::chrono::seconds(1);
  int exits_with = 0;
  Duration ignores_term_for = {};  // 0: SIGTERM kills it at once, as it does to most programs
  int exits_after_term_with = 0;   // when it has stopped ignoring
  std::string prints = {};         // at the start
};
SimProgram make_program(sys::Clock& clock, ProcessScript script);

// Whether this signal kills whoever does not handle it.
bool ends_a_process(int signal_number);

// A program that runs, or has run.
class RunningProgram;

// Starts programs by the name in argv[0]. Each is alone in its group, as each that our launcher
// starts really is; those that a program starts through the World of its machine die with it.
class SimProcessLauncher : public sys::ProcessLauncher {
 public:
  SimProcessLauncher(Kernel& kernel, SimOwnSignals& own_signals)
      : kernel_(kernel), own_signals_(own_signals) {}
  void install(std::string name, SimProgram program) {
    programs_.insert_or_assign(std::move(name), std::move(program));
  }
  Result<std::unique_ptr<sys::Process>> spawn(sys::ProcessSpec spec) override;

  // --- For the simulated world; not scheduling points. ---
  struct Alive {
    int pid = 0;
    int parent = 0;                  // 1: the program that the machine was booted with
    const Domain* domain = nullptr;  // in which it runs
    std::vector<int> handled = {};   // signals that do not kill it
  };
  // In order of birth.
  std::vector<Alive> alive() const;
  // Of the program whose threads belong to `domain`; 1: the one that the machine was booted with.
  int pid_of(const Domain& domain) const;
  // As Process::signal() does. Nothing happens if it has ended.
  void deliver(int pid, int signal_number);

 private:
  static constexpr int kFirstPid = 100;

  Kernel& kernel_;
  SimOwnSignals& own_signals_;
  std::map<std::string, SimProgram> programs_;
  int next_pid_ = kFirstPid;
  struct Born {
    int parent = 0;
    std::unique_ptr<Domain> domain;  // stays: threads of ended processes may still unwind
    std::weak_ptr<RunningProgram> program = {};
  };
  std::vector<Born> born_;  // the one with pid n is at n - kFirstPid
};

}  // namespace outlast::sim
