#pragma once

#include "base/result.h"
#include "sys/posix_fd.h"

namespace outlast::sys {

// A tiny process beside a child of ours that kills the child's whole group, and what descends from
// it, when we are no more, however we ended. It waits for the end of a pipe whose other end only we
// have: the kernel closes that for us whatever happens. (PR_SET_PDEATHSIG would reach the direct
// child alone, and would kill it already when the thread that started it ends.)
//
// It is a member of the group that it keeps. So as long as it lives, the number of the group cannot
// come to mean another process or group, even if everybody else in it has ended and been reaped
// meanwhile. Nothing can be sent to it but SIGKILL and SIGSTOP: a group that is killed takes its
// keeper along, which would find nobody's descendants any more. One that was stopped stays so,
// and its keeper with it, until somebody wakes it; the kernel does if our end orphans the group,
// which it does not where the one who adopts it is of our session (a container's first process).
//
// It costs no time, as it only sleeps; and next to no memory, as it gives back what it has
// inherited from us. It has no descriptor of ours but its end of the pipe. Goes when this does.
// Confined to its owner.
class Keeper {
 public:
  Keeper() = default;  // keeps nothing
  Keeper(Keeper&& other) noexcept;
  Keeper& operator=(Keeper&& other) noexcept;
  ~Keeper();

  // For the group `group` of our session, in which there is a child of ours that has not been
  // reaped. When this returns, the group is kept.
  static Result<Keeper> start(int group);

 private:
  int pid_ = -1;
  Fd our_life_;  // its closing is what the keeper waits for
};

}  // namespace outlast::sys
