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
  OUTLAST_TRY(process.signal(policy.ask_with));
  const MonoTime patience = saturating_add(clock.mono_now(), policy.grace);
  Result<ExitStatus> status = process.wait(ctx.until(patience));
  if (!status) {
    const ErrorCode code = status.error().code();
    if (code != ErrorCode::kDeadlineExceeded && code != ErrorCode::kCancelled) return status;
  }
  if (policy.kill_group) OUTLAST_TRY(process.signal_group(SIGKILL));
  if (status) return status;
  OUTLAST_TRY(process.signal(SIGKILL));
  return process.wait({});
}

}  // namespace outlast::sys
