#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

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

// What is exported is to be all that is there.
Result<void> check_is_empty(const std::string& folder, sys::FileSystem& files) {
  const Result<std::vector<sys::DirectoryEntry>> there = files.list(folder);
  if (!there && there.error().code() == ErrorCode::kNotFound) return {};
  if (!there) return there.error().while_doing("look into the folder to export to");
  if (there->empty()) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} is not empty: name a new folder to export to, or use 'outlast ckpt "
                           "restore'",
                           printable(folder)));
}

Result<ExitCode> run_ckpt_export(const Invocation& invocation, Context& context) {
  checkpoint::RestoreRequest request = {.folder = invocation.positionals[0],
                                        .seq = invocation.number("seq"),
                                        .regions_as_files = true};
  // What a damaged checkpoint has left there before it was passed over.
  request.options.exact = true;
  const Result<sys::FileInfo> there = context.world.files.stat(request.folder);
  if (there && there->type == sys::FileType::kFile) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is a file: name a folder to export to", printable(request.folder)));
  }
  OUTLAST_TRY(check_is_empty(request.folder, context.world.files));
  OUTLAST_TRY_ASSIGN(OpenJob job, open_job(invocation, context.world));
  return restore_and_report(job, std::move(request), {.doing = "export", .done = "exported"},
                            context);
}

}  // namespace

CommandSpec ckpt_export_command() {
  return {
      .path = {"ckpt", "export"},
      .group = "Checkpoints",
      .summary = "Write a checkpoint as plain files, for other programs",
      .description =
          {"Writes everything of a checkpoint into a new folder as files that need no outlast to "
           "read. Files are as they were saved. What a trainer saved from its memory becomes a "
           "file, too: its bytes, under its name; in a folder rank-0, rank-1, … if several "
           "processes saved together."},
      .positionals = {{.name = "FOLDER",
                       .help = "Where to; must not exist, or be empty",
                       .completes = Completes::kFiles}},
      .options = with_job_options({seq_option("the newest that is not damaged")}),
      .examples = {{.command = "outlast ckpt export --root s3://my-bucket/t --job j1 model",
                    .does = "Give the model to somebody"}},
      .run = run_ckpt_export,
  };
}

}  // namespace outlast::cli
