#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/prune.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"
#include "job/retention.h"

namespace outlast::cli {
namespace {

using checkpoint::PruneRequest;
using checkpoint::PruneSummary;

// "METRIC", "METRIC:min" or "METRIC:max". A name may have colons of its own.
job::Retention::Best read_best(std::string_view text) {
  job::Retention::Best best;
  best.highest = text.ends_with(":max");
  if (best.highest || text.ends_with(":min")) text.remove_suffix(4);
  best.metric = text;
  return best;
}

// kInvalidArgument, as a sentence about the command line.
Result<PruneRequest> read_prune(const Invocation& invocation) {
  PruneRequest request = {.dry_run = invocation.flag("dry-run")};
  const auto last = invocation.number("keep-last");
  const auto every = invocation.number("keep-every");
  const auto best = invocation.value("keep-best");
  const auto wrong = [](std::string sentence) {
    return Error(ErrorCode::kInvalidArgument, std::move(sentence));
  };
  if (!last && !every && !best) {
    return wrong("say what to keep: --keep-last, --keep-every, --keep-best or several of them");
  }
  if (last == 0) return wrong("--keep-last must be at least 1: the newest is always kept");
  if (every == 0) return wrong("--keep-every must be at least 1");
  request.retention.last = last.value_or(1);
  request.retention.every = every;
  if (best) request.retention.best = read_best(*best);
  if (request.retention.best && request.retention.best->metric.empty()) {
    return wrong("--keep-best needs the name of a metric");
  }
  if (const auto grace = invocation.value("grace")) {
    const Result<Duration> duration = parse_duration(*grace);
    if (!duration) return wrong("--grace: " + duration.error().to_string());
    request.grace = *duration;
  }
  return request;
}

// A name that no checkpoint has is a typing mistake, and would cost the very ones it was to keep.
Result<void> check_metric_exists(const std::string& metric, OpenJob& job) {
  OUTLAST_TRY_ASSIGN(const std::vector<job::LogEntry> entries, job.checkpoints->list({}));
  std::set<std::string> names;
  for (const job::LogEntry& entry : entries) {
    for (const auto& [name, value] : entry.checkpoint.metrics) names.insert(printable(name));
  }
  if (names.contains(printable(metric))) return {};
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("no checkpoint of {} has a metric '{}'; {}", job.name(), printable(metric),
                  known.empty() ? "none has any" : "there is " + known));
}

void print_prune(const PruneSummary& summary, const PruneRequest& request,
                 const Terminal& terminal) {
  const bool dry = request.dry_run;
  terminal.print(fmt::format("{}: {}\n", dry ? "would keep" : "kept", format_seqs(summary.kept)));
  terminal.print(fmt::format("{}: {}\n", dry ? "would drop" : "dropped",
                             summary.dropped.empty() ? "none" : format_seqs(summary.dropped)));
  const auto objects = [](std::uint64_t count) {
    return fmt::format("{} {}", count, count == 1 ? "object" : "objects");
  };
  if (summary.objects_condemned > 0) {
    terminal.print(
        fmt::format("{}: {}, {}; a prune after {} removes what is condemned\n",
                    dry ? "would condemn" : "condemned", objects(summary.objects_condemned),
                    format_bytes_short(summary.bytes_condemned), format_duration(request.grace)));
  }
  if (summary.objects_removed > 0) {
    terminal.print(fmt::format("{}: {}, condemned before\n", dry ? "would remove" : "removed",
                               objects(summary.objects_removed)));
  }
}

Result<ExitCode> run_ckpt_prune(const Invocation& invocation, Context& context) {
  const Result<PruneRequest> request = read_prune(invocation);
  if (!request) return wrong_value(invocation, context, request.error().sentence());
  OUTLAST_TRY_ASSIGN(OpenJob job, open_job(invocation, context.world));
  if (const auto& best = request->retention.best) {
    OUTLAST_TRY(check_metric_exists(best->metric, job));
  }
  const Result<PruneSummary> done = job.checkpoints->prune(*request, {});
  warn_of_damaged_entries(job, context.terminal);
  if (!done) return done.error().while_doing(fmt::format("prune {}", job.name()));
  if (context.terminal.json()) {
    context.terminal.print_json({{"dry_run", request->dry_run},
                                 {"kept", done->kept},
                                 {"dropped", done->dropped},
                                 {"objects_condemned", done->objects_condemned},
                                 {"bytes_condemned", done->bytes_condemned},
                                 {"objects_removed", done->objects_removed}});
  } else {
    print_prune(*done, *request, context.terminal);
  }
  return ExitCode::kOk;
}

}  // namespace

CommandSpec ckpt_prune_command() {
  return {
      .path = {"ckpt", "prune"},
      .group = "Checkpoints",
      .summary = "Drop old checkpoints and free their space",
      .description =
          {"Keeps each checkpoint that one of the --keep options keeps, the pinned ones and the "
           "newest; drops the others. What only they needed, and what broken saves have left, is "
           "condemned now and removed by a later prune, once the grace period is over: whoever "
           "reads an old checkpoint meanwhile can finish. It is safe while the job runs and saves.",
           "To free space for good, prune regularly, or once more after the grace period."},
      .options = with_job_options(
          {{.name = "keep-last", .value_name = "N", .help = "the newest N", .number = true},
           {.name = "keep-every",
            .value_name = "N",
            .help = "those whose step is a multiple of N",
            .number = true},
           {.name = "keep-best",
            .value_name = "METRIC[:max]",
            .help = "the one with the lowest value of a metric, or with :max the highest"},
           {.name = "grace",
            .value_name = "DURATION",
            .help = "how long what was dropped can still be read (default: 24h); longer than any "
                    "save or restore takes"},
           {.name = "dry-run", .help = "only say what would be done"}}),
      .examples = {{.command = "outlast ckpt prune --root /mnt/r --job j1 --keep-last 5 --dry-run",
                    .does = "See what would go"},
                   {.command = "outlast ckpt prune --root s3://b/t --job j1 --keep-best loss",
                    .does = "Keep the best and the newest"}},
      .run = run_ckpt_prune,
  };
}

}  // namespace outlast::cli
