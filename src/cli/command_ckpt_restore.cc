#include <fmt/core.h>

#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "checkpoint/checkpoints.h"
#include "cli/ckpt_access.h"
#include "cli/ckpt_restore.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/text_layout.h"
#include "sys/file_system.h"

namespace outlast::cli {
namespace {

Result<ExitCode> run_ckpt_restore(const Invocation& invocation, Context& context) {
  checkpoint::RestoreRequest request = {.folder = invocation.positionals[0],
                                        .seq = invocation.number("seq")};
  request.options.exact = invocation.flag("exact");
  const Result<sys::FileInfo> there = context.world.files.stat(request.folder);
  if (there && there->type == sys::FileType::kFile) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is a file: name a folder to restore into", printable(request.folder)));
  }
  OUTLAST_TRY_ASSIGN(OpenJob job, open_job(invocation, context.world));
  return restore_and_report(job, std::move(request), {.doing = "restore", .done = "restored"},
                            context);
}

}  // namespace

CommandSpec ckpt_restore_command() {
  return {
      .path = {"ckpt", "restore"},
      .group = "Checkpoints",
      .summary = "Bring a checkpoint back into a folder",
      .description =
          {"Makes FOLDER what was saved: contents, modes, times, symlinks and hard links. Takes "
           "the "
           "newest checkpoint; if that turns out to be damaged, says so and takes the one before "
           "it, and so on, unless --seq names one. Every byte is compared with its hash.",
           "FOLDER may have contents: only what differs is fetched and written, and what is not of "
           "the checkpoint is left alone, or removed with --exact. A folder with contents where "
           "the "
           "checkpoint has a file is removed with --exact only. A restore that was interrupted "
           "leaves a mark in FOLDER until the same command is given again; what it has fetched is "
           "not fetched twice."},
      .positionals = {{.name = "FOLDER",
                       .help = "Where to; made if it is not there",
                       .completes = Completes::kFiles}},
      .options = with_job_options(
          {seq_option("the newest that is not damaged"),
           {.name = "exact", .help = "remove what is in FOLDER and not in the checkpoint"}}),
      .examples = {{.command = "outlast ckpt restore --root s3://my-bucket/t --job j1 ckpts",
                    .does = "Go on where the job was"},
                   {.command = "outlast ckpt restore --root /mnt/r --job j1 --seq 12 old",
                    .does = "Look at an older one"}},
      .run = run_ckpt_restore,
  };
}

}  // namespace outlast::cli
