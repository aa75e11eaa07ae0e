#include "sys/process.h"

#include <fmt/core.h>
#include <signal.h>
#include <string.h>  // sigabbrev_np

#include <string>
#include <variant>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/clock.h"

namespace outlast::sys {

std::string to_string(const ExitStatus& status) {
  if (const auto* exited = std::get_if<Exited>(&status)) {
    return fmt::format("exited with {}", exited->code);
  }
  const int number = std::get<Signaled>(status).signal;
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("killed by SIG{}", name)
                         : fmt::format("killed by signal {}", number);
}

Result<ExitStatus> stop_process(Process& process, Clock& clock, const StopPolicy& policy,
                                const CallContext& ctx) {
  const MonoTime patience = saturating_add(clock.mono_now(), policy.grace);
  const Result<void> asked = process.signal(policy.ask_with);
  // Whatever goes wrong from here on, the process is killed: it must not be left alive.
  Result<ExitStatus> status =
      asked ? process.wait(ctx.until(patience)) : Result<ExitStatus>(asked.error());
  if (policy.kill_group) (void)process.signal_group(SIGKILL);
  if (status) return status;
  OUTLAST_TRY(process.signal(SIGKILL));
  return process.wait({});
}

}  // namespace outlast::sys
