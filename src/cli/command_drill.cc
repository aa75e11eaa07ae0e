#include <fmt/core.h>
#include <signal.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/job_file.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/run.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "cli/run_plan.h"
#include "drill/drill.h"
#include "drill/expectations.h"
#include "drill/report.h"
#include "drill/schedule.h"
#include "job/spec.h"
#include "report/drill_page.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/own_signals.h"
#include "sys/threads.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

// The description, a paragraph each.
constexpr std::string_view kWhatIsDone =
    "Runs a trainer once undisturbed, and once on machines that are taken away from it: each "
    "a real 'outlast run' in a clean copy of this folder, with a root of its own, on this "
    "machine. Nothing of yours is touched, no cloud is asked for anything.";
constexpr std::string_view kWhatIsTold =
    "It tells for each machine how long a notice took to be heard and answered by a committed "
    "checkpoint, what was lost, and after what time training went on; whether the trainer "
    "truly resumed; whether the result is the same, bit for bit; and what to change in the "
    "trainer if not. It ends with an exit code of its own if an expectation was not met: a "
    "unit test for survival.";
constexpr std::string_view kSchedules =
    "A schedule says after how much training a machine sees what: '5s, 8s withdrawn, 4s late, "
    "6s kill, 6s mid-save'. A time alone is a notice, 'late' one that leaves a second, "
    "'withdrawn' one that is taken back, 'kill' the end without a word, 'mid-save' the same "
    "while a checkpoint is being written. Without one, the troubles come at equal distances "
    "over the time that the undisturbed run took.";
constexpr std::string_view kExpectations =
    "Expectations (in quotes, because of the shell): lost<=0 (steps, by what the trainer "
    "prints), lost<=10s, recovery<=90s, committed<=25s (after a notice), overhead<=20%, "
    "resumed, identical, and clean (nothing was found). Without --expect: resumed, and "
    "identical unless two undisturbed runs differ, too.";
constexpr std::string_view kFolders =
    "Folders of more than 1 GiB are not copied: list what the trainer needs in 'files:' of a "
    "job file, or refer to data by an absolute path.";

class DrillScreen : public drill::Watcher {
 public:
  DrillScreen(const Terminal& terminal, sys::Clock& clock)
      : terminal_(terminal), line_(terminal, clock) {}
  void doing(const std::string& words) override { line_.update(printable_whole(words)); }
  void happened(const std::string& line) override {
    line_.clear();
    terminal_.note(printable_whole(line));
  }
  void finish() { line_.clear(); }

 private:
  const Terminal& terminal_;
  ProgressLine line_;
};

Error wrong_drill(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

Result<std::optional<Duration>> duration_option(const Invocation& invocation,
                                                std::string_view name) {
  const std::optional<std::string> text = invocation.value(name);
  if (!text) return std::optional<Duration>();
  const Result<Duration> duration = parse_duration(*text);
  if (!duration || *duration <= Duration::zero()) {
    return wrong_drill(
        fmt::format("--{} takes a time such as 30s, not '{}'", name, printable(*text)));
  }
  return std::optional(*duration);
}

Result<void> take_schedule(const Invocation& invocation, drill::DrillOptions& options) {
  const std::optional<std::string> schedule = invocation.value("schedule");
  OUTLAST_TRY_ASSIGN(options.poisson, duration_option(invocation, "poisson"));
  const std::optional<std::uint64_t> preemptions = invocation.number("preemptions");
  if (schedule && (options.poisson || preemptions)) {
    return wrong_drill(
        "--schedule says what happens and how often: without --poisson and "
        "--preemptions");
  }
  if (invocation.number("seed") && !options.poisson) {
    return wrong_drill("--seed is for --poisson, which draws");
  }
  options.seed = invocation.number("seed").value_or(options.seed);
  if (schedule) {
    OUTLAST_TRY_ASSIGN(options.schedule, drill::parse_schedule(*schedule, options.source));
  }
  options.preemptions = preemptions.value_or(options.preemptions);
  if (options.preemptions < 1 || options.preemptions > drill::kPlannedMax) {
    return wrong_drill(fmt::format("--preemptions takes 1 to {}", drill::kPlannedMax));
  }
  return {};
}

Result<drill::DrillOptions> drill_options(const Invocation& invocation,
                                          const std::optional<job::SpecReading>& reading,
                                          sys::World& world) {
  OUTLAST_TRY_ASSIGN(const RunPlan plan, make_run_plan(invocation, reading, world));
  OUTLAST_TRY(find_program(plan, world));
  drill::DrillOptions options = {.spec = plan.spec,
                                 .command = invocation.trailing,
                                 .command_text = plan.command,
                                 .folder = world.environment.working_dir(),
                                 .version = std::string(version())};
  options.source =
      drill::parse_source(invocation.value("as").value_or("")).value_or(options.source);
  OUTLAST_TRY_ASSIGN(options.notice_time, duration_option(invocation, "notice-time"));
  OUTLAST_TRY(take_schedule(invocation, options));
  if (const auto expect = invocation.value("expect")) {
    OUTLAST_TRY_ASSIGN(options.expected, drill::parse_expectations(*expect));
  }
  const auto folder = [&](std::string_view name) -> std::optional<std::string> {
    std::optional<std::string> path = invocation.value(name);
    if (!path) return std::nullopt;
    while (path->size() > 1 && path->ends_with('/')) path->pop_back();
    return sys::join_path(options.folder, *path);
  };
  options.keep = folder("keep");
  options.baseline = folder("baseline");
  OUTLAST_TRY_ASSIGN(options.program, world.files.read_symlink("/proc/self/exe"));
  return options;
}

// Until Ctrl-C or its like, which a drill answers by clearing up.
Result<drill::Report> rehearse(const drill::DrillOptions& options, DrillScreen& screen,
                               sys::World& world) {
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<sys::SignalSubscription> signals,
                     world.own_signals.subscribe({SIGINT, SIGTERM, SIGHUP}));
  std::stop_source stop;
  const std::unique_ptr<sys::Thread> listener =
      world.threads.spawn("drill-signals", [&](const std::stop_token& ended) {
        if (signals->next({.stop = ended})) stop.request_stop();
      });
  return drill::run_drill(world, options, screen, {.stop = stop.get_token()});
}

std::string page_path(const std::string& path, sys::World& world) {
  return sys::join_path(world.environment.working_dir(), path);
}

// Better before the run than after it.
Result<void> check_page(const std::string& path, sys::World& world) {
  const Result<sys::FileInfo> info = world.files.stat(page_path(path, world));
  if (info && info->type == sys::FileType::kDirectory) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("--html {} is a folder: give a file", printable(path)));
  }
  OUTLAST_TRY(world.files.stat(sys::parent_path(page_path(path, world)))
                  .while_doing(fmt::format("write the report to {}", printable(path))));
  return {};
}

Result<void> write_page(const std::string& page, const std::string& path, sys::World& world) {
  return sys::write_file_atomically(world.files, page_path(path, world), as_bytes(page))
      .while_doing(fmt::format("write the report to {}", printable(path)));
}

Result<ExitCode> run_drill_command(const Invocation& invocation, Context& context) {
  const JobArgument job = read_job_argument(invocation, context);
  if (job.refused) return *job.refused;
  const Result<drill::DrillOptions> options = drill_options(invocation, job.reading, context.world);
  if (!options) return wrong_value(invocation, context, options.error().to_string());
  const std::optional<std::string> page = invocation.value("html");
  if (page) OUTLAST_TRY(check_page(*page, context.world));
  DrillScreen screen(context.terminal, context.world.clock);
  const Result<drill::Report> report = rehearse(*options, screen, context.world);
  screen.finish();
  if (!report) return report.error();
  if (context.terminal.json()) {
    context.terminal.print_json(drill::to_json(*report));
  } else {
    context.terminal.print(drill::to_text(*report, context.terminal.colours()));
  }
  if (page) OUTLAST_TRY(write_page(report::render_drill_page(*report), *page, context.world));
  return report->is_passed ? ExitCode::kOk : ExitCode::kNotMet;
}

}  // namespace

CommandSpec drill_command() {
  return {
      .path = {"drill"},
      .group = "Training",
      .summary = "Rehearse preemptions, and see what would be lost",
      .description = {std::string(kWhatIsDone), std::string(kWhatIsTold), std::string(kSchedules),
                      std::string(kExpectations), std::string(kFolders)},
      .positionals = {{.name = "JOB.yaml",
                       .help = "A job file; without one, a COMMAND is enough",
                       .required = false,
                       .completes = Completes::kFiles}},
      .options =
          {{.name = "preemptions",
            .value_name = "N",
            .help = "how many (default: 5)",
            .number = true},
           {.name = "notice-time",
            .value_name = "TIME",
            .help = "from a notice to the machine's end (default: 30s, less if the run is short)"},
           {.name = "as",
            .value_name = "SOURCE",
            .help = "how machines hear of their end: as on these clouds, by Slurm, by SIGTERM "
                    "(default), by a file, or not at all",
            .words = {"gce", "ec2", "azure", "slurm", "signal", "file", "kill"}},
           {.name = "schedule",
            .value_name = "LIST",
            .help = "after how much training each machine sees what: '5s, 8s withdrawn, 6s kill'"},
           {.name = "poisson",
            .value_name = "MEAN",
            .help = "preemptions by chance, so far apart on average"},
           {.name = "seed",
            .value_name = "N",
            .help = "of that chance (default: 1)",
            .number = true},
           {.name = "expect",
            .value_name = "LIST",
            .help = "what must hold, such as 'lost<=0,recovery<=90s,identical'"},
           {.name = "baseline",
            .value_name = "FOLDER",
            .help = "take the undisturbed run that an earlier drill has kept there",
            .completes = Completes::kFiles},
           {.name = "keep",
            .value_name = "FOLDER",
            .help = "leave every machine's files and both roots there",
            .completes = Completes::kFiles},
           {.name = "html",
            .value_name = "FILE",
            .help = "write the report as a page with a timeline, too",
            .completes = Completes::kFiles},
           {.name = "job", .value_name = "NAME", .help = "its name (default: by the command)"},
           {.name = "checkpoint",
            .value_name = "DIR",
            .help = "the folder that the trainer saves to, or auto: find it (default)",
            .completes = Completes::kFiles},
           {.name = "every",
            .value_name = "WHEN",
            .help = "how often to save: auto (default), 60s, '500 steps', '1 epoch'"}},
      .trailing_name = "COMMAND…",
      .examples = {{.command = "outlast drill -- python3 train.py --epochs 2",
                    .does = "Five preemptions by SIGTERM, over the time that it takes"},
                   {.command = "outlast drill --as kill --every 10s -- python3 train.py --epochs 2",
                    .does = "Without a word, once in the middle of a save"},
                   {.command = "outlast drill --as gce --expect 'lost<=0,identical' job.yaml",
                    .does = "As on Google's machines, and as a test"},
                   {.command = "outlast drill --as file --schedule '5s, 8s withdrawn, 4s late' -- "
                               "./train.sh",
                    .does = "Notices that are taken back, and that come too late"}},
      .run = run_drill_command,
  };
}

}  // namespace outlast::cli
