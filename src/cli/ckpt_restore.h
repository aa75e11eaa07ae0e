#pragma once

#include <string_view>

#include "base/result.h"
#include "checkpoint/checkpoints.h"
#include "cli/ckpt_access.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"

namespace outlast::cli {

// What 'ckpt restore' and 'ckpt export' share: brings a checkpoint into request.folder, shows how
// far it is, warns of each damaged one that is passed over, and tells what was done.
struct RestoreWords {
  std::string_view doing;  // "restore"
  std::string_view done;   // "restored"
};
Result<ExitCode> restore_and_report(OpenJob& job, checkpoint::RestoreRequest request,
                                    const RestoreWords& words, Context& context);

}  // namespace outlast::cli
