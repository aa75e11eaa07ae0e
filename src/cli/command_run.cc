#include <fmt/core.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/begin_attempt.h"
#include "agent/event.h"
#include "agent/root_layout.h"
#include "agent/work_folder.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/job_file.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/run.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "cli/run_boot.h"
#include "cli/run_notices.h"
#include "cli/run_plan.h"
#include "cli/run_screen.h"
#include "job/log_entry.h"
#include "job/spec.h"
#include "machine/power.h"
#include "notice/notice_source.h"
#include "notice/slurm_place.h"
#include "store/object_store.h"
#include "store/open/open_store.h"
#include "store/open/store_url.h"
#include "store/prefixed_store.h"
#include "store/transfer/copier.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/clock.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/own_signals.h"
#include "sys/world.h"
#include "trainer_files/tree_listing.h"

namespace outlast::cli {
namespace {

constexpr Duration kRootPatience = std::chrono::minutes(2);
// A machine that finds its job done when it boots goes off again; but somebody may have started it
// to look at something, and must be able to.
constexpr Duration kTimeToLogIn = std::chrono::minutes(5);

// What sources of notices have to say about themselves.
class ScreenLog : public LogSink {
 public:
  ScreenLog(RunScreen& screen, sys::Clock& clock) : screen_(screen), clock_(clock) {}
  void write(LogRecord record) override {
    if (record.level < LogLevel::kWarning) return;
    record.time = clock_.wall_now();
    screen_.happened({.time = record.time,
                      .level = agent::EventLevel::kWarning,
                      .kind = record.event,
                      .sentence = format_log_text(record)});
  }

 private:
  RunScreen& screen_;
  sys::Clock& clock_;
};

// What the trainer left for people, into the job's folder of the root.
Result<void> upload_output(const std::string& folder, const std::string& job,
                           store::ObjectStore& root, sys::World& world,
                           const sys::CallContext& ctx) {
  OUTLAST_TRY_ASSIGN(const trainer_files::TreeListing listing,
                     trainer_files::list_tree(world.files, folder, {}, ctx));
  store::PrefixedStore store(root, fmt::format("jobs/{}/{}", job, agent::kOutputPrefix));
  store::Copier copier(world.threads, world.clock, {});
  for (const trainer_files::ListedEntry& entry : listing.entries()) {
    if (entry.type != sys::FileType::kFile) continue;
    store::Copy copy;
    copy.open_source = [&world, path = listing.full_path(entry.path)](const sys::CallContext&) {
      return store::open_file_source(world.files, path);
    };
    copy.make_target = [&world, &store, key = entry.path] {
      return store::make_object_target(store, world.files, key, "");
    };
    OUTLAST_TRY(copier.add(std::move(copy), ctx));
  }
  OUTLAST_TRY(copier.finish({}, ctx));
  return {};
}

std::string where(const RunPlan& plan) {
  return plan.spec.root == "./outlast-root" ? "" : fmt::format(" --root {}", plan.spec.root);
}

// The job had ended before we came.
ExitCode say_ended(const job::LogEntry& ending, const RunPlan& plan, const Terminal& terminal) {
  const std::string& job = plan.spec.name.str();
  const std::string what =
      fmt::format("job '{}' is {} since {}: {}", job, job::to_string(ending.kind),
                  format_time(ending.time), printable(ending.why));
  if (ending.kind == job::EntryKind::kDone) {
    terminal.note(fmt::format(
        "{}; nothing is left to do. To train it further: outlast resume {}{}{}", what, job,
        where(plan), plan.named_itself ? "; if this is another job, name it: --job" : ""));
    return ExitCode::kOk;
  }
  terminal.error(std::string(job::to_string(ending.kind)),
                 fmt::format("{}; to try again: outlast resume {}{}", what, job, where(plan)));
  return ExitCode::kFailed;
}

ExitCode exit_code_of(const agent::AttemptEnding& ending) {
  switch (ending.outcome) {
    case agent::AttemptOutcome::kDone:
      return ExitCode::kOk;
    case agent::AttemptOutcome::kLeft:
      return ending.interrupted ? ExitCode::kInterrupted : ExitCode::kLeft;
    case agent::AttemptOutcome::kBroken:
      return ending.broken_by ? exit_code_for(*ending.broken_by) : ExitCode::kNotAvailable;
    // None of these is to be started again by whoever starts what failed.
    case agent::AttemptOutcome::kFailed:
    case agent::AttemptOutcome::kCancelled:
    case agent::AttemptOutcome::kTakenOver:
      break;
  }
  return ExitCode::kFailed;
}

std::string next_words(const agent::AttemptEnding& ending, const RunPlan& plan) {
  const std::string& job = plan.spec.name.str();
  switch (ending.outcome) {
    case agent::AttemptOutcome::kDone:
      return fmt::format("what it saved: outlast ckpt ls --root {} --job {}", plan.spec.root, job);
    case agent::AttemptOutcome::kBroken:
      return "once that is put right, give the same command again, here or on another machine";
    case agent::AttemptOutcome::kLeft:
      return "to go on, here or on another machine, give the same command again";
    case agent::AttemptOutcome::kFailed:
    case agent::AttemptOutcome::kCancelled:
      return fmt::format("what it printed: outlast logs {}{}; to try again: outlast resume {}{}",
                         job, where(plan), job, where(plan));
    case agent::AttemptOutcome::kTakenOver:
      return fmt::format("where it is now: outlast status {}{}", job, where(plan));
  }
  return "";
}

// The machine's end, if that was asked for: everything that counts is in the root by now.
void shut_down(const agent::AttemptEnding& ending, Duration at_least, const RunPlan& plan,
               const Context& context) {
  // A job that somebody has cancelled needs no machine either.
  const bool has_failed = ending.outcome == agent::AttemptOutcome::kFailed ||
                          ending.outcome == agent::AttemptOutcome::kCancelled;
  if (!plan.shuts_down || (ending.outcome != agent::AttemptOutcome::kDone && !has_failed)) return;
  if (ending.is_unsaved) {
    context.terminal.warn("this machine stays on: what the trainer left is nowhere else");
    return;
  }
  const job::OnFailed& rule = plan.spec.on_failed;
  if (has_failed && rule.keep && !rule.keep_for) return;
  const Duration after =
      std::max(at_least, has_failed && rule.keep ? rule.keep_for.value_or(Duration::zero())
                                                 : Duration::zero());
  context.terminal.note(after == Duration::zero() ? "powering this machine off"
                                                  : fmt::format("powering this machine off in {}",
                                                                format_duration_short(after)));
  const Result<void> off = machine::power_off(context.world, after, {});
  if (!off) context.terminal.warn(off.error().to_string());
}

Result<void> make_root(const std::string& path, sys::World& world) {
  const Result<sys::FileInfo> info = world.files.stat(path);
  if (info && info->type == sys::FileType::kFile) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the root, {}, is a file: give a folder, or a bucket such as "
                             "s3://bucket/prefix",
                             printable(path)));
  }
  if (info) return {};
  return sys::make_dirs(world.files, path).while_doing(fmt::format("make the root {}", path));
}

job::Epoch seen_here(const agent::WorkFolder& work, const std::string& job) {
  const std::optional<agent::WorkFolder::Mark> mark = work.mark();
  return mark && mark->job == job ? mark->epoch : 0;
}

Result<ExitCode> train(const RunPlan& plan, Context& context) {
  sys::World& world = context.world;
  const MonoTime began = world.clock.mono_now();
  // A warning that Slurm sends before anybody listens for it must not be our end.
  Result<std::unique_ptr<sys::SignalSubscription>> early;
  if (notice::slurm_place(world.environment)) early = world.own_signals.subscribe({SIGUSR1});
  OUTLAST_TRY(find_program(plan, world));
  if (plan.root.kind == store::StoreKind::kFolder) OUTLAST_TRY(make_root(plan.root.path, world));
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<store::ObjectStore> root,
                     store::open_store(plan.root, world));
  OUTLAST_TRY_ASSIGN(agent::WorkFolder work,
                     agent::WorkFolder::open(world.files, world.clock, plan.watched, {}));
  RunScreen screen(context.terminal, world.threads, world.clock);
  ScreenLog screen_log(screen, world.clock);
  const agent::AgentId self = agent::this_agent(world);
  const auto tell = [&](agent::EventLevel level, std::string kind, std::string sentence) {
    screen.happened({.time = world.clock.wall_now(),
                     .level = level,
                     .kind = std::move(kind),
                     .sentence = std::move(sentence)});
  };
  tell(agent::EventLevel::kNote, "job",
       fmt::format("job '{}' in {}{}", plan.spec.name.str(), plan.spec.root,
                   plan.named_itself ? " (--job gives it a name of your own)" : ""));
  OUTLAST_TRY_ASSIGN(auto begun,
                     agent::begin_attempt(*root, world,
                                          {.spec = plan.spec,
                                           .agent = self,
                                           .writer = fmt::format("{} {}", self.host, self.pid),
                                           .take_over_now = plan.take_over_now,
                                           .seen_here = seen_here(work, plan.spec.name.str()),
                                           .root_patience = kRootPatience,
                                           .tell = tell},
                                          {}));
  if (const auto* const ending = std::get_if<job::LogEntry>(&begun)) {
    screen.finish();
    const ExitCode code = say_ended(*ending, plan, context.terminal);
    shut_down({.outcome = code == ExitCode::kOk ? agent::AttemptOutcome::kDone
                                                : agent::AttemptOutcome::kFailed},
              kTimeToLogIn, plan, context);
    return code;
  }
  // From here on Ctrl-C and SIGTERM are news, not the end. Not before: while we only wait, for the
  // root or for another machine, nobody would hear them.
  OUTLAST_TRY_ASSIGN(std::vector<std::unique_ptr<notice::NoticeSource>> sources,
                     notice_sources(plan, began, world, Logger(screen_log)));
  agent::AttemptOptions options = {.spec = plan.spec,
                                   .trainer = plan.trainer,
                                   .command = plan.command,
                                   .version = std::string(version()),
                                   .agent = self,
                                   .recognise = plan.recognise};
  if (plan.root.kind == store::StoreKind::kFolder) options.listing.outlast_root = plan.root.path;
  options.before_done = [&](const sys::CallContext& ctx) {
    return upload_output(work.output_dir(), plan.spec.name.str(), *root, world, ctx)
        .while_doing("upload what the trainer put into OUTLAST_OUTPUT_DIR");
  };
  agent::Attempt attempt({.world = world, .root = *root, .work = work, .front = screen},
                         std::move(options), std::get<agent::Begun>(std::move(begun)));
  const agent::AttemptEnding ending = attempt.run(std::move(sources));
  screen.finish();
  for (const std::string& file : plan.notice_files) {
    if (ending.outcome == agent::AttemptOutcome::kLeft && world.files.stat(file)) {
      context.terminal.note(fmt::format("'{}' is still there: remove it first", printable(file)));
    }
  }
  context.terminal.note(next_words(ending, plan));
  shut_down(ending, Duration::zero(), plan, context);
  return exit_code_of(ending);
}

Result<ExitCode> run_run(const Invocation& invocation, Context& context) {
  const JobArgument job = read_job_argument(invocation, context);
  if (job.refused) return *job.refused;
  const Result<RunPlan> plan = make_run_plan(invocation, job.reading, context.world);
  if (!plan) return wrong_value(invocation, context, plan.error().to_string());
  if (invocation.flag("install-boot")) return install_boot(invocation, *plan, context);
  if (invocation.flag("remove-boot")) return remove_boot(*plan, context);
  if (!plan->not_done.empty()) {
    context.terminal.warn(
        fmt::format("not acted on yet, of this job file: {}", fmt::join(plan->not_done, ", ")));
  }
  return train(*plan, context);
}

}  // namespace

CommandSpec run_command() {
  return {
      .path = {"run"},
      .group = "Training",
      .summary = "Train here, and survive",
      .description =
          {"Runs a trainer, any program that writes checkpoint files, and keeps them in the root. "
           "When the machine goes, or the trainer, or outlast itself, give the same command again, "
           "here or in an empty folder on another machine that reaches the root: the files are put "
           "back, and training goes on from them.",
           "Without --checkpoint it watches the folder that it runs in, recognises the checkpoints "
           "that appear, and says what it found. With it, everything in that folder is the "
           "trainer's state. A trainer that uses an SDK (in C++, or Python with helpers for most "
           "frameworks) needs no files: it copies its state into memory of outlast, and goes on "
           "from there when it crashes.",
           "The trainer finds OUTLAST_RESUME (the folder that was put back; empty at the first "
           "start), OUTLAST_CHECKPOINT_DIR, OUTLAST_OUTPUT_DIR (what is in it when the job is done "
           "goes to the root), OUTLAST_NOTICE (a file that appears when the machine is about to "
           "end), OUTLAST_JOB and OUTLAST_ATTEMPT in its environment. One that handles SIGUSR1 is "
           "asked to save by it, one that handles SIGTERM to save and leave; others get no "
           "signal.",
           "Exit code 0 of the trainer means that the job is done; 75 that it saved and left, and "
           "is to go on; 78 that trying again is no use; anything else is a failure and is tried "
           "again, from the last checkpoint, as often as 'retries' says. Preemptions never count. "
           "A COMMAND of one word with spaces in it, and 'run' of a job file, go through the "
           "shell. What the trainer prints is shown, and kept in the root: 'outlast logs'."},
      .positionals = {{.name = "JOB.yaml",
                       .help = "A job file; without one, a COMMAND is enough",
                       .required = false,
                       .completes = Completes::kFiles}},
      .options =
          {{.name = "root",
            .value_name = "URL",
            .help = "where the job is kept: a folder, s3://…, gs://… or az://… (default: "
                    "./outlast-root)",
            .completes = Completes::kFiles},
           {.name = "job",
            .value_name = "NAME",
            .help = "its name there (default: by the command)"},
           {.name = "checkpoint",
            .value_name = "DIR",
            .help = "the folder that the trainer saves to, or auto: find it (default)",
            .completes = Completes::kFiles},
           {.name = "every",
            .value_name = "WHEN",
            .help = "how often to save: auto (default), 60s, '500 steps', '1 epoch'"},
           {.name = "notice",
            .value_name = "SOURCE",
            .help = "where the machine's end is announced: auto (default: find it out), gce, ec2, "
                    "azure, slurm, kubernetes, signal (SIGTERM and Ctrl-C only); file:PATH: also "
                    "when that file appears; none: not even signals, which then end outlast at "
                    "once; may be repeated. OUTLAST_NOTICE_SOURCES says it, too",
            .repeated = true},
           {.name = "grace",
            .value_name = "TIME",
            .help = "from SIGTERM, or a notice that says no time, to the machine's end (default: "
                    "30s)"},
           {.name = "lifetime",
            .value_name = "TIME",
            .help = "after which this machine ends by itself, such as 24h"},
           {.name = "on-done",
            .value_name = "WHAT",
            .help = "shutdown: power this machine off when the job is done, has failed or was "
                    "cancelled; keep (default)",
            .words = {"shutdown", "keep"}},
           {.name = "take-over", .help = "Do not wait to see whether another machine still has it"},
           {.name = "install-boot", .help = "Start nothing; do this at every boot of this machine"},
           {.name = "remove-boot", .help = "Take that back"}},
      .trailing_name = "COMMAND…",
      .examples = {{.command = "outlast run -- python3 train.py --lr 0.1",
                    .does = "Train, with everything in ./outlast-root"},
                   {.command =
                        "outlast run --root s3://my-bucket/jobs --job cifar -- python3 train.py",
                    .does = "The same in a bucket: any machine can go on with it"},
                   {.command = "outlast run job.yaml", .does = "As a job file says"},
                   {.command = "outlast run --install-boot --on-done shutdown job.yaml",
                    .does = "On a machine that is stopped and started by others"}},
      .run = run_run,
  };
}

}  // namespace outlast::cli
