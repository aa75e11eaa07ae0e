#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::sys {

struct Exited {
  int code = 0;
  friend bool operator==(const Exited&, const Exited&) = default;
};
struct Signaled {
  int signal = 0;
  friend bool operator==(const Signaled&, const Signaled&) = default;
};
using ExitStatus = std::variant<Exited, Signaled>;

// "exited with 3", "killed by SIGTERM".
std::string to_string(const ExitStatus& status);

// Where one output stream of a process goes.
struct Output {
  struct Inherit {};                                   // to ours
  struct Discard {};                                   // nowhere
  using Sink = std::function<void(std::string_view)>;  // called, in pieces of any size, from wait()
  std::variant<Inherit, Discard, Sink> target = Inherit{};
};

struct ProcessSpec {
  std::vector<std::string> argv = {};  // argv[0] is searched in PATH unless it has a slash
  std::optional<std::vector<std::pair<std::string, std::string>>> environment =
      {};                        // default: ours
  std::string working_dir = {};  // default: ours
  Output out = {};
  Output err = {};
  // When we end without having ended it (by SIGKILL, for want of memory, by a crash), its whole
  // group is killed, and what descends from it, in whatever group that is. On, because a trainer
  // that nobody supervises goes on against the next attempt, on a machine that nobody ends. It
  // costs a second, tiny process for each; off for a tool that ends by itself in a moment anyway.
  bool dies_with_us = true;
};

// A child process, alone in a process group of its own. Passive: it has no thread; output reaches
// the sinks, and the exit is noticed, only inside wait(). A child whose output has a sink stalls
// when the pipe is full and nobody waits. If it is destroyed while the child runs, the child's
// group is killed: what is to outlive us is never started through this. wait() belongs to one
// thread; signal() and signal_group() may come from any.
class Process {
 public:
  virtual ~Process() = default;
  virtual int pid() const = 0;
  // To the process itself. Ok if it has just ended: the caller learns that from wait().
  virtual Result<void> signal(int signal_number) = 0;
  // To everything still in its group, also after the process itself has ended.
  virtual Result<void> signal_group(int signal_number) = 0;
  // Until it has ended and what it wrote has been delivered. Output that a surviving grandchild
  // writes later is not waited for. Once ended, every call returns the same status at once.
  virtual Result<ExitStatus> wait(const CallContext& ctx) = 0;
};

class ProcessLauncher {
 public:
  virtual ~ProcessLauncher() = default;
  // kNotFound if there is no such program; kInvalidArgument for an empty argv. Thread-safe.
  virtual Result<std::unique_ptr<Process>> spawn(ProcessSpec spec) = 0;
};

// How a process is made to end: asked first, killed when the grace has passed.
struct StopPolicy {
  int ask_with = 15;  // SIGTERM, to the process alone: its helpers must not die before it
  Duration grace = std::chrono::seconds(10);  // from the real deadline, never a guess
  bool kill_group = true;                     // afterwards SIGKILL to whatever is left of its group
};
// Carries out the policy and returns how the process ended. If `ctx` ends first, the process is
// killed at once: this never returns with it alive.
Result<ExitStatus> stop_process(Process& process, Clock& clock, const StopPolicy& policy,
                                const CallContext& ctx);

}  // namespace outlast::sys
