#include "notice/slurm_control.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/slurm_job.h"
#include "sys/call_context.h"
#include "sys/process.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

// A controller that is away is waited for by scontrol much longer than a notice lasts.
constexpr Duration kToolTime = std::chrono::seconds(5);
constexpr std::size_t kToolBytesMax = 256UL << 10U;

sys::Output into(std::string& text) {
  return {.target = sys::Output::Sink([&text](std::string_view piece) {
            if (text.size() < kToolBytesMax) text += piece;
          })};
}

}  // namespace

Result<std::string> SlurmControl::run(std::vector<std::string> words, const sys::CallContext& ctx) {
  words.insert(words.begin(), "scontrol");
  const std::string line = fmt::format("'{}'", fmt::join(words, " "));
  std::string out;
  std::string err;
  sys::ProcessSpec spec = {.argv = std::move(words),
                           .environment = world_.environment.all(),
                           .out = into(out),
                           .err = into(err),
                           .dies_with_us = false};
  // Times that mean the same everywhere. The last of two variables of one name might not count.
  std::erase_if(*spec.environment, [](const auto& variable) {
    return variable.first == "SLURM_TIME_FORMAT" || variable.first == "TZ";
  });
  spec.environment->emplace_back("SLURM_TIME_FORMAT", "%s");
  spec.environment->emplace_back("TZ", "UTC");
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::Process> process,
                     world_.processes.spawn(std::move(spec)).while_doing(line));
  const MonoTime give_up = saturating_add(world_.clock.mono_now(), kToolTime);
  Result<sys::ExitStatus> status = process->wait(ctx.until(give_up));
  if (!status) {
    if (status.error().code() == ErrorCode::kDeadlineExceeded && give_up <= ctx.deadline) {
      return Error(
          ErrorCode::kUnavailable,
          fmt::format("{} did not end within {} s", line,
                      std::chrono::duration_cast<std::chrono::seconds>(kToolTime).count()));
    }
    return std::move(status).error();
  }
  if (*status == sys::ExitStatus(sys::Exited{0})) return out;
  const std::string_view said = ascii_trimmed(err);
  return Error(ErrorCode::kFailed,
               fmt::format("{} {}{}{}", line, sys::to_string(*status), said.empty() ? "" : ": ",
                           said.substr(0, said.find('\n'))));
}

Result<SlurmJob> SlurmControl::show_job(const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string text, run({"show", "job", "-o", job_}, ctx));
  return parse_slurm_job(text).while_doing("read what scontrol says of job " + job_);
}

Result<SlurmConfig> SlurmControl::show_config(const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string text, run({"show", "config"}, ctx));
  return parse_slurm_config(text);
}

Result<std::string> SlurmControl::show_preempt_mode(const std::string& partition,
                                                    const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const std::string text, run({"show", "partition", "-o", partition}, ctx));
  return parse_preempt_mode(text);
}

Result<void> SlurmControl::requeue(const sys::CallContext& ctx) {
  OUTLAST_TRY(run({"requeue", job_}, ctx));
  return {};
}

}  // namespace outlast::notice
