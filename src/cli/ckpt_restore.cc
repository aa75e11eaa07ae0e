#include "cli/ckpt_restore.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/restore.h"
#include "cli/ckpt_access.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"

namespace outlast::cli {
namespace {

struct PassedOver {
  job::Seq seq = 0;
  std::string damage = {};
};

// Which one is used instead is known only at the end, so this comes then.
void warn_of_passed_over(const std::vector<PassedOver>& passed_over,
                         const std::optional<job::Seq>& used, const Terminal& terminal) {
  for (const PassedOver& one : passed_over) {
    terminal.warn(fmt::format("checkpoint {} is damaged, {}: {}", one.seq,
                              used ? fmt::format("checkpoint {} is used instead", *used)
                                   : std::string("and none before it can be used instead"),
                              printable_whole(one.damage)));
  }
}

// "step 1200, 2026-11-15 08:30:00Z".
std::string when_text(const job::LogEntry& entry) {
  const std::string time = format_time(entry.time);
  return entry.checkpoint.step ? fmt::format("step {}, {}", *entry.checkpoint.step, time) : time;
}

Json restored_json(const checkpoint::Restored& restored, const std::vector<PassedOver>& passed_over,
                   double seconds) {
  const checkpoint::RestoreSummary& summary = restored.summary;
  Json damaged = Json::array();
  for (const PassedOver& one : passed_over) {
    damaged.push_back({{"seq", one.seq}, {"words", one.damage}});
  }
  return {{"checkpoint", checkpoint_json(restored.entry)},
          {"passed_over", damaged},
          {"files", summary.files},
          {"files_changed", summary.files_changed},
          {"bytes", summary.bytes},
          {"bytes_fetched", summary.bytes_fetched},
          {"left_alone", summary.left_alone},
          {"removed", summary.removed},
          {"seconds", seconds}};
}

std::string things(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void print_restored(const checkpoint::Restored& restored, std::string_view done, Duration took,
                    const Terminal& terminal) {
  const checkpoint::RestoreSummary& summary = restored.summary;
  terminal.print(fmt::format(
      "checkpoint {} ({}) {}: {} in {}, {} fetched, {} there already, {}\n", restored.entry.seq,
      when_text(restored.entry), done, format_bytes_short(summary.bytes),
      things(summary.files, "file", "files"), format_bytes_short(summary.bytes_fetched),
      format_bytes_short(summary.bytes - summary.bytes_fetched), format_duration(took)));
  if (summary.left_alone > 0) {
    terminal.note(fmt::format("{} in the folder {} not of this checkpoint; --exact removes that",
                              things(summary.left_alone, "thing", "things"),
                              summary.left_alone == 1 ? "is" : "are"));
  }
  if (summary.removed > 0) {
    terminal.note(fmt::format("{} removed that {} not of this checkpoint",
                              things(summary.removed, "thing", "things"),
                              summary.removed == 1 ? "was" : "were"));
  }
}

}  // namespace

Result<ExitCode> restore_and_report(OpenJob& job, checkpoint::RestoreRequest request,
                                    const RestoreWords& words, Context& context) {
  const Terminal& terminal = context.terminal;
  const MonoTime started = context.world.clock.mono_now();
  SharedProgressLine progress(terminal, context.world.clock);
  request.options.watch = [&](const checkpoint::RestoreProgress& now) {
    progress.update(
        fmt::format("{} of {}", format_bytes_short(now.bytes_done), format_bytes_short(now.bytes)));
  };
  std::vector<PassedOver> passed_over;
  request.passed_over = [&](job::Seq seq, const Error& damage) {
    passed_over.push_back({.seq = seq, .damage = damage.to_string()});
  };
  const Result<checkpoint::Restored> restored = job.checkpoints->restore(request, {});
  progress.clear();
  warn_of_damaged_entries(job, terminal);
  warn_of_passed_over(passed_over, restored ? std::optional(restored->entry.seq) : std::nullopt,
                      terminal);
  if (!restored) {
    return restored.error().while_doing(
        fmt::format("{} {} to {}", words.doing, job.name(), printable(request.folder)));
  }
  const Duration took = context.world.clock.mono_now() - started;
  if (terminal.json()) {
    terminal.print_json(
        restored_json(*restored, passed_over, std::chrono::duration<double>(took).count()));
  } else {
    print_restored(*restored, words.done, took, terminal);
  }
  return ExitCode::kOk;
}

}  // namespace outlast::cli
