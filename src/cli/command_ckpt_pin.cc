#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep

#include "base/json.h"
#include "base/result.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"

namespace outlast::cli {
namespace {

Result<ExitCode> run_ckpt_pin(const Invocation& invocation, Context& context) {
  const std::uint64_t seq = invocation.number_at(0);
  const bool pinned = !invocation.flag("unpin");
  OUTLAST_TRY_ASSIGN(OpenJob job, open_job(invocation, context.world));
  OUTLAST_TRY(job.checkpoints->find(seq, {}));
  // Nothing is written when there is nothing to change: the log is for ever.
  const bool was_pinned = job.checkpoints->log().history().pinned().contains(seq);
  if (was_pinned != pinned) OUTLAST_TRY(job.checkpoints->pin(seq, pinned, {}));
  if (context.terminal.json()) {
    context.terminal.print_json(
        {{"seq", seq}, {"pinned", pinned}, {"changed", was_pinned != pinned}});
  } else {
    context.terminal.note(fmt::format("checkpoint {} {} {}", seq,
                                      was_pinned == pinned ? "was" : "is now",
                                      pinned ? "pinned" : "not pinned"));
  }
  return ExitCode::kOk;
}

}  // namespace

CommandSpec ckpt_pin_command() {
  return {
      .path = {"ckpt", "pin"},
      .group = "Checkpoints",
      .summary = "Keep a checkpoint whatever is pruned",
      .description = {"No prune drops a pinned checkpoint. With --unpin it is like the others "
                      "again."},
      .positionals = {{.name = "SEQ",
                       .help = "The checkpoint, by its number in 'ckpt ls'",
                       .number = true}},
      .options = with_job_options({{.name = "unpin", .help = "no longer keep it"}}),
      .examples = {{.command = "outlast ckpt pin --root s3://my-bucket/training --job j1 12",
                    .does = "Keep the one that the paper uses"}},
      .run = run_ckpt_pin,
  };
}

}  // namespace outlast::cli
