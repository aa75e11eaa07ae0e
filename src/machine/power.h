#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::machine {

// Powers the machine off, so that nobody pays for it any longer: at once, or `after` a while, in
// which a person can look at it, or keep it on with "shutdown -c".
//
// Ok means that the machine has agreed; SIGTERM reaches us a little later like everybody else.
// "Later" is rounded up to whole minutes. Where no tool here can do it later, this waits until then
// itself, as long as `ctx` allows.
//
// The tools are tried one after the other until one works: systemctl, shutdown, poweroff; it is
// normal for some to be missing. If none works, kPermissionDenied if we are not root and
// kUnavailable otherwise (a container has no power of its own), with all that they said. The
// machine then still runs, and still costs: the sentence is for somebody's eyes.
Result<void> power_off(sys::World& world, Duration after, const sys::CallContext& ctx);

}  // namespace outlast::machine
