#include <fmt/core.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/tree_scan.h"
#include "checkpoint/writer.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"
#include "store/open/store_url.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

Error wrong_metric(std::string_view given, std::string_view why) {
  return {ErrorCode::kInvalidArgument, fmt::format("--metric {}: {}", printable(given), why)};
}

// Of "--metric NAME=VALUE", given any number of times.
Result<std::map<std::string, double>> read_metrics(const std::vector<std::string>& given) {
  std::map<std::string, double> metrics;
  for (const std::string& text : given) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return wrong_metric(text, "write it as NAME=VALUE");
    }
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data() + equals + 1, end, value);
    if (failure != std::errc() || stop != end || !std::isfinite(value)) {
      return wrong_metric(text, "the value must be a finite number");
    }
    if (!metrics.emplace(text.substr(0, equals), value).second) {
      return wrong_metric(text, "this metric was given before");
    }
  }
  return metrics;
}

checkpoint::Compression compression_of(const Invocation& invocation) {
  const std::string word = invocation.value("compression").value_or("auto");
  if (word == "always") return checkpoint::Compression::kAlways;
  return word == "never" ? checkpoint::Compression::kNever : checkpoint::Compression::kAuto;
}

// kInvalidArgument if something cannot be written into the log: found out before all the work.
Result<checkpoint::SaveRequest> read_request(const Invocation& invocation) {
  checkpoint::SaveRequest request;
  OUTLAST_TRY_ASSIGN(request.metrics, read_metrics(invocation.list("metric")));
  request.step = invocation.number("step");
  request.why = invocation.value("why").value_or(request.why);
  request.options.compression = compression_of(invocation);
  job::LogEntry draft = {.seq = 1, .epoch = 1, .kind = job::EntryKind::kCheckpoint, .nonce = "0"};
  draft.why = request.why;
  draft.checkpoint.manifests.resize(1);
  draft.checkpoint.step = request.step;
  draft.checkpoint.metrics = request.metrics;
  OUTLAST_TRY(job::check_entry(draft));
  return request;
}

// A root that lies in what is to be saved would grow with every save, and change while it is read.
Result<void> check_root_is_elsewhere(const Invocation& invocation, const checkpoint::TreeScan& scan,
                                     sys::FileSystem& files) {
  OUTLAST_TRY_ASSIGN(const store::StoreUrl url,
                     store::parse_store_url(invocation.required("root")));
  if (url.kind != store::StoreKind::kFolder) return {};
  // A root that is yet to be made: where it would be.
  std::string path = url.path;
  Result<sys::FileInfo> root = files.stat(path);
  while (!root && path != sys::parent_path(path)) {
    path = sys::parent_path(path);
    root = files.stat(path);
  }
  if (!root) return {};
  const auto is_root = [&root](const sys::FileInfo& info) {
    return info.device == root->device && info.inode == root->inode;
  };
  bool inside = false;
  for (const std::string& positional : invocation.positionals) {
    const Result<sys::FileInfo> given = files.stat(positional);
    inside = inside || (given && is_root(*given));
  }
  for (const checkpoint::FoundItem& found : scan.found) inside = inside || is_root(found.info);
  if (!inside) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("the root {} lies in what is to be saved: keep it somewhere else",
                           printable(url.path)));
}

Result<checkpoint::TreeScan> scan(const Invocation& invocation, Context& context) {
  OUTLAST_TRY_ASSIGN(checkpoint::TreeScan scan,
                     checkpoint::scan_tree(context.world.files, invocation.positionals, {}));
  if (!scan.half_restored.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a restore into {} has not ended, so that a mixture of two states is "
                             "there: give 'outlast ckpt restore' again, then save",
                             printable(scan.half_restored.front())));
  }
  OUTLAST_TRY(check_root_is_elsewhere(invocation, scan, context.world.files));
  if (!scan.skipped.empty()) {
    context.terminal.note(
        fmt::format("{} left out, the first is {}: sockets, pipes and devices have no content",
                    scan.skipped.size(), printable(scan.skipped.front())));
  }
  return scan;
}

std::string save_progress_text(const checkpoint::SaveProgress& now) {
  return fmt::format("{} of {}, {} unchanged, {} stored", format_bytes_short(now.bytes_known),
                     format_bytes_short(now.bytes), format_bytes_short(now.bytes_same),
                     format_bytes_short(now.bytes_stored));
}

void report_save(const checkpoint::Saved& saved, Duration took, const Terminal& terminal) {
  if (terminal.json()) {
    terminal.print_json({{"seq", saved.seq},
                         {"files", saved.files},
                         {"bytes", saved.totals.bytes},
                         {"same_bytes", saved.totals.bytes_same},
                         {"stored_bytes", saved.totals.bytes_stored},
                         {"seconds", std::chrono::duration<double>(took).count()}});
    return;
  }
  terminal.print(fmt::format("checkpoint {}: {} in {} {}, {} new, {}\n", saved.seq,
                             format_bytes_short(saved.totals.bytes), saved.files,
                             saved.files == 1 ? "file" : "files",
                             format_bytes_short(saved.totals.bytes_stored), format_duration(took)));
  if (saved.totals.files_again > 0) {
    terminal.note(fmt::format("{} read again, because something wrote to them meanwhile",
                              saved.totals.files_again));
  }
}

Result<ExitCode> run_ckpt_save(const Invocation& invocation, Context& context) {
  Result<checkpoint::SaveRequest> request = read_request(invocation);
  if (!request) return wrong_value(invocation, context, request.error().sentence());
  sys::World& world = context.world;
  const MonoTime started = world.clock.mono_now();
  OUTLAST_TRY_ASSIGN(checkpoint::TreeScan found, scan(invocation, context));
  OUTLAST_TRY_ASSIGN(const OpenJob job, open_or_start_job(invocation, world));
  checkpoint::State state = {.files = std::move(found.found)};
  state.origin = checkpoint::origin_of(world.files, state.files);
  SharedProgressLine progress(context.terminal, world.clock);
  request->options.watch = [&](const checkpoint::SaveProgress& now) {
    progress.update(save_progress_text(now));
  };
  const Result<checkpoint::Saved> saved = job.checkpoints->save(state, *request, {});
  progress.clear();
  if (!saved) return saved.error().while_doing(fmt::format("save to {}", job.name()));
  report_save(*saved, world.clock.mono_now() - started, context.terminal);
  return ExitCode::kOk;
}

}  // namespace

CommandSpec ckpt_save_command() {
  return {
      .path = {"ckpt", "save"},
      .group = "Checkpoints",
      .summary = "Save files and folders as one checkpoint",
      .description =
          {"Saves everything that the PATHs lead to as one checkpoint of the job, which starts "
           "with "
           "the first one. One folder gives its contents; several PATHs are saved each under its "
           "last name. Modes, times, symlinks, hard links and holes are kept. Only what is not in "
           "the root already is stored. The checkpoint counts once this command has succeeded, and "
           "not before.",
           "The save takes the job over: whoever saved to it before, on whatever machine, can no "
           "longer do so and is told.",
           "Prints the checkpoint's number, how large the state is, and how many bytes were added "
           "to the root for it."},
      .positionals = {{.name = "PATH",
                       .help = "A file or a folder",
                       .repeated = true,
                       .completes = Completes::kFiles}},
      .options = with_job_options(
          {{.name = "step",
            .value_name = "N",
            .help = "the step that the training has reached",
            .number = true},
           {.name = "metric",
            .value_name = "NAME=VALUE",
            .help = "something measured, to choose checkpoints by; may be repeated",
            .repeated = true},
           {.name = "why", .value_name = "TEXT", .help = "a remark for 'ckpt ls'"},
           {.name = "compression",
            .value_name = "WHEN",
            .help = "auto (where it makes the save faster), always, never",
            .words = {"auto", "always", "never"}}}),
      .examples = {{.command = "outlast ckpt save --root s3://my-bucket/training --job j1 ckpts",
                    .does = "Save a folder"},
                   {.command =
                        "outlast ckpt save --root /mnt/r --job j1 --metric loss=0.3 model.pt",
                    .does = "Save a file, and how good it is"}},
      .run = run_ckpt_save,
  };
}

}  // namespace outlast::cli
