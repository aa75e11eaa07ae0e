#pragma once

#include <string>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/job_look.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/ckpt_access.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/world.h"

// What the commands have in common that look at jobs, and steer them, from a desk.
namespace outlast::cli {

// JOB, the first positional of all but ls.
PositionalSpec desk_job_positional();
// --root, which has a default, then the command's own.
std::vector<OptionSpec> with_desk_root(std::vector<OptionSpec> own);

std::string desk_root(const Invocation& invocation);
// The JOB that was asked for; errors as of open_job().
Result<OpenJob> open_desk_job(const Invocation& invocation, sys::World& world);
agent::LookParts look_parts(store::ObjectStore& root, sys::World& world);

// "outlast status j1 --root /mnt/r", to be typed next; without --root where the default was used.
std::string desk_command(const Invocation& invocation, const std::string& command,
                         const std::string& job);

// What the newest attempt said of itself, or the one before if that cannot be read; an empty one if
// there is none. `epochs` rise.
Result<agent::AttemptRecord> newest_record(store::ObjectStore& job,
                                           const std::vector<job::Epoch>& epochs);
// "outlast run --root R --job J -- COMMAND".
std::string run_command_text(const Invocation& invocation, const std::string& job,
                             const agent::AttemptRecord& record);

// "12s ago", "just now".
std::string format_ago(Duration age);
// Since `time`, by the clock of this desk, which may differ from the one that wrote it: never below
// zero.
Duration age_of(WallTime time, sys::World& world);

// Since the job's attempt was last heard of; zero if it never was.
Duration heard_ago(const agent::JobLook& look, sys::World& world);

// What every command tells of a job in JSON.
Json look_json(const agent::JobLook& look);

}  // namespace outlast::cli
