#include "machine/power.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "machine/tool.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::machine {
namespace {

using Ways = std::vector<std::vector<std::string>>;

// What each way that did not work said; ok with the first that did.
struct Tried {
  bool worked = false;
  std::vector<std::string> said = {};
};

Tried try_each(sys::World& world, const Ways& ways, const sys::CallContext& ctx) {
  Tried tried;
  for (const std::vector<std::string>& way : ways) {
    const Result<void> done = run_tool(world, way, ctx);
    if (done) return {.worked = true};
    tried.said.push_back(done.error().to_string());
  }
  return tried;
}

}  // namespace

Result<void> power_off(sys::World& world, Duration after, const sys::CallContext& ctx) {
  if (after > Duration::zero()) {
    const auto minutes = std::chrono::ceil<std::chrono::minutes>(after).count();
    const Ways later = {
        {"shutdown", "-h", fmt::format("+{}", minutes)},
        {"systemd-run", fmt::format("--on-active={}min", minutes), "systemctl", "poweroff"}};
    if (try_each(world, later, ctx).worked) return {};
    OUTLAST_TRY(world.clock.sleep_for(after, ctx).while_doing("wait to power the machine off"));
  }
  const Tried tried =
      try_each(world, {{"systemctl", "poweroff"}, {"shutdown", "-h", "now"}, {"poweroff"}}, ctx);
  if (tried.worked) return {};
  const std::string said = fmt::format("{}", fmt::join(tried.said, "; "));
  if (!may_be_root(world)) {
    return Error(ErrorCode::kPermissionDenied,
                 fmt::format("this machine could not be powered off and still runs: only root may "
                             "do that here ({})",
                             said));
  }
  return Error(
      ErrorCode::kUnavailable,
      fmt::format("this machine could not be powered off and still runs, as in a container "
                  "without an init of its own: end it from outside ({})",
                  said));
}

}  // namespace outlast::machine
