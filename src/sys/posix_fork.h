#pragma once

#include <signal.h>

#include "base/result.h"
#include "sys/posix_fd.h"

// What a fork() of a program with many threads needs. The new process is a copy in which only one
// thread lives on: until it executes something else it may call only what a signal handler may.
namespace outlast::sys {

struct Pipe {
  Fd read;
  Fd write;
};
// Both ends are closed when somebody executes a program.
Result<Pipe> make_pipe();

// No signal reaches this thread as long as this lives: a handler of ours must not run in a process
// that is no longer us. The new process starts with all of them blocked.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Closes every descriptor from `first` on, but not `kept`. For the new process.
void close_all_but(int kept, int first);

// Waits for the end of a child of ours, and lets its number go.
void reap_child(int pid);

}  // namespace outlast::sys
