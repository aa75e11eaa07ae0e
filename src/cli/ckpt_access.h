#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/safetensors.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/world.h"

// What the ckpt commands have in common: where a job is, and how its checkpoints are named.
namespace outlast::cli {

// --root and --job, then the command's own.
std::vector<OptionSpec> with_job_options(std::vector<OptionSpec> own);
// --seq N, of a command that takes the newest one otherwise; `otherwise` is how it says so.
OptionSpec seq_option(std::string_view otherwise);

// A job in a root, open.
struct OpenJob {
  std::unique_ptr<store::ObjectStore> root = {};
  std::unique_ptr<checkpoint::Checkpoints> checkpoints = {};  // uses the root

  // Where it is, for messages: "job 'j1' in s3://bucket/training".
  std::string name() const;
};

// A root, open. kNotFound if it is a folder that is not there, kInvalidArgument if it cannot be
// one.
Result<std::unique_ptr<store::ObjectStore>> open_root(const std::string& root, sys::World& world);

struct JobPlace {
  std::string root = {};
  std::string job = {};
};
// A job that must be there; errors as of open_job().
Result<OpenJob> open_job_at(const JobPlace& place, sys::World& world);

// The job that was asked for. kInvalidArgument if the root or the job's name cannot be one;
// kNotFound, with what there is instead, if there is no such root, or no such job in it.
Result<OpenJob> open_job(const Invocation& invocation, sys::World& world);
// The same for a command that starts a job if there is none; a root that is a folder is made.
Result<OpenJob> open_or_start_job(const Invocation& invocation, sys::World& world);

// The checkpoint that --seq asks for, or the newest. kNotFound, with which there are, if there is
// no such.
Result<job::LogEntry> find_checkpoint(const Invocation& invocation, OpenJob& job);

// A value that the spec cannot refuse is wrong: says so, as the parser does.
ExitCode wrong_value(const Invocation& invocation, const Context& context, std::string sentence);

// Warns of entries of the log that cannot be read, as far as it was read.
void warn_of_damaged_entries(OpenJob& job, const Terminal& terminal);

// "2026-11-15 08:30:00Z".
std::string format_time(WallTime time);
// "loss=0.25 accuracy=0.9": as short as it is exact; "" if there are none.
std::string format_metrics(const job::CheckpointFacts& facts);
// "1, 2 and 5"
std::string format_seqs(const std::vector<job::Seq>& seqs);
// "F32 [4, 3]".
std::string format_type(const checkpoint::Tensor& tensor);
// What every command tells of a checkpoint in JSON.
Json checkpoint_json(const job::LogEntry& entry);

}  // namespace outlast::cli
