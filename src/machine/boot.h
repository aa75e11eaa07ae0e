#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "machine/boot_unit.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::machine {

enum class BootKind { kSystemd, kCron };

struct BootInstalled {
  BootKind kind = BootKind::kSystemd;
  std::string file = {};              // what was written
  std::string environment_file = {};  // where the user may put credentials; not made by us
};

// Makes a command run at every boot from the next one on; nothing is started now. Writes a unit and
// enables it where systemd runs the machine, a file for cron where that is all there is. What was
// installed for the same job before is replaced; a second call repairs one that was cut off.
//
// kPermissionDenied unless we are root, and kInvalidArgument for what boot_unit.h refuses, both
// before anything is changed; kUnavailable, with what to do instead, where neither systemd nor cron
// is.
Result<BootInstalled> install_boot(sys::World& world, const BootSpec& spec,
                                   const sys::CallContext& ctx);

// Takes away what install_boot() has made, be it systemd's or cron's, and returns the files that
// are gone: none if none was there, which is no error. What runs is not stopped.
Result<std::vector<std::string>> remove_boot(sys::World& world, const JobName& job,
                                             const sys::CallContext& ctx);

}  // namespace outlast::machine
