#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"

namespace outlast::cli {
namespace {

using Row = std::vector<std::string>;

Row row_of(const job::LogEntry& entry, bool pinned) {
  const job::CheckpointFacts& facts = entry.checkpoint;
  return {fmt::format("{}", entry.seq),    facts.step ? fmt::format("{}", *facts.step) : "-",
          format_time(entry.time),         printable(entry.why),
          format_bytes_short(facts.bytes), format_bytes_short(facts.stored_bytes),
          pinned ? "pinned" : "",          format_metrics(facts)};
}

Result<ExitCode> run_ckpt_ls(const Invocation& invocation, Context& context) {
  OUTLAST_TRY_ASSIGN(OpenJob job, open_job(invocation, context.world));
  OUTLAST_TRY_ASSIGN(const std::vector<job::LogEntry> entries, job.checkpoints->list({}));
  const std::set<job::Seq> pinned = job.checkpoints->log().history().pinned();
  warn_of_damaged_entries(job, context.terminal);
  if (context.terminal.json()) {
    Json list = Json::array();
    for (const job::LogEntry& entry : entries) {
      Json one = checkpoint_json(entry);
      one["pinned"] = pinned.contains(entry.seq);
      list.push_back(std::move(one));
    }
    context.terminal.print_json({{"job", job.checkpoints->job()}, {"checkpoints", list}});
    return ExitCode::kOk;
  }
  if (entries.empty()) {
    context.terminal.note(fmt::format("{} has no checkpoint yet", job.name()));
    return ExitCode::kOk;
  }
  std::vector<Row> rows = {{"seq", "step", "time", "why", "size", "new", "", "metrics"}};
  std::uint64_t stored = 0;
  for (const job::LogEntry& entry : entries) {
    rows.push_back(row_of(entry, pinned.contains(entry.seq)));
    stored += entry.checkpoint.stored_bytes;
  }
  context.terminal.print(table(rows, {true, true, false, false, true, true, false, false}));
  context.terminal.note(fmt::format("{} {}, {} stored for them", entries.size(),
                                    entries.size() == 1 ? "checkpoint" : "checkpoints",
                                    format_bytes_short(stored)));
  return ExitCode::kOk;
}

}  // namespace

CommandSpec ckpt_ls_command() {
  return {
      .path = {"ckpt", "ls"},
      .group = "Checkpoints",
      .summary = "List the checkpoints of a job",
      .description = {"Lists every checkpoint that can be restored, the newest last: its number, "
                      "the step, when and why it was saved, how large the state is, how many bytes "
                      "were added to the root for it, whether it is pinned, and its metrics. The "
                      "numbers are places in the job's log, which has entries of other kinds, too: "
                      "they rise, but not one by one."},
      .options = with_job_options({}),
      .examples = {{.command = "outlast ckpt ls --root s3://my-bucket/training --job j1",
                    .does = "See what there is"},
                   {.command = "outlast ckpt ls --root /mnt/r --job j1 --json | jq .checkpoints",
                    .does = "The same for a script"}},
      .run = run_ckpt_ls,
  };
}

}  // namespace outlast::cli
