#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/attempts.h"
#include "agent/beat.h"
#include "agent/job_look.h"
#include "agent/root_layout.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/read_object.h"
#include "cli/ckpt_access.h"
#include "cli/commands.h"
#include "cli/desk.h"
#include "cli/event_text.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"
#include "job/place_facts.h"
#include "job/progress_reader.h"
#include "job/retry_budget.h"
#include "job/spec.h"
#include "job/spec_json.h"
#include "store/object_store.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr std::size_t kEventsShown = 5;
constexpr std::size_t kSpecBytesMax = std::size_t{1} << 20U;

// Everything that is known.
struct JobStatus {
  agent::JobLook look = {};
  agent::JobState state = agent::JobState::kUnknown;
  std::vector<job::Epoch> attempts = {};
  agent::AttemptRecord record = {};    // of the newest that can be read; epoch 0: of none
  std::optional<job::Spec> spec = {};  // none: it was not submitted as one, or cannot be read
  job::RetryDecision retry = {};
  std::vector<agent::AttemptEvent> events = {};

  bool is_alive() const { return agent::is_alive(look); }
  std::uint64_t retries() const { return spec ? spec->retries : job::Spec().retries; }
};

Result<std::optional<job::Spec>> read_status_spec(store::ObjectStore& store,
                                                  const Terminal& terminal) {
  const std::string key(agent::kSpecKey);
  const Result<std::string> text = checkpoint::read_object(store, key, kSpecBytesMax, {});
  if (!text && text.error().code() == ErrorCode::kNotFound) return std::optional<job::Spec>();
  if (!text && !checkpoint::is_damage(text.error())) return text.error();
  const Result<Json> json = text ? parse_json(*text) : Result<Json>(text.error());
  const Result<job::Spec> spec =
      json ? job::spec_from_json(*json) : Result<job::Spec>(json.error());
  if (spec) return std::optional<job::Spec>(*spec);
  terminal.warn(fmt::format("{} cannot be read: {}", store.url_of(key), spec.error().to_string()));
  return std::optional<job::Spec>();
}

Result<JobStatus> read_status(OpenJob& job, Context& context) {
  JobStatus status;
  store::ObjectStore& store = job.checkpoints->store();
  OUTLAST_TRY_ASSIGN(
      status.look, agent::look_at_job(look_parts(*job.root, context.world), job.checkpoints->job(),
                                      job.checkpoints->log().history(), {}));
  status.state = agent::judge(status.look);
  OUTLAST_TRY_ASSIGN(status.attempts, agent::list_attempts(store, {}));
  OUTLAST_TRY_ASSIGN(status.record, newest_record(store, status.attempts));
  OUTLAST_TRY_ASSIGN(status.spec, read_status_spec(store, context.terminal));
  status.retry = job::decide_retry(status.record.ends, status.retries());
  OUTLAST_TRY_ASSIGN(status.events, agent::last_events(store, status.attempts, kEventsShown, {}));
  return status;
}

std::string state_text(const JobStatus& status, sys::World& world) {
  std::string text(agent::to_string(status.state));
  if (status.look.ending) {
    text += fmt::format(" since {}", format_time(status.look.ending->time));
    if (!status.look.ending->why.empty()) text += ": " + printable(status.look.ending->why);
    if (const agent::Beat* beat = agent::live_beat(status.look)) {
      text += fmt::format("; attempt {} has not left yet", beat->epoch);
    }
  } else if (status.record.ended) {
    if (!status.record.ended->why.empty()) text += ": " + printable(status.record.ended->why);
  }
  if (status.look.beat) {
    text += fmt::format(", heard of {}", format_ago(heard_ago(status.look, world)));
  }
  return text;
}

std::string attempt_text(const JobStatus& status, sys::World& world) {
  const agent::AttemptRecord& record = status.record;
  std::string text = fmt::format("{} ({} so far) on {}", record.epoch, status.attempts.size(),
                                 printable(record.agent.host));
  if (record.agent.pid != 0) text += fmt::format(", process {}", record.agent.pid);
  text += fmt::format(", since {}", format_time(record.began));
  if (status.is_alive()) {
    text += fmt::format(" ({})", format_duration_short(age_of(record.began, world)));
  }
  return text;
}

std::string progress_line_text(const job::Progress& progress, bool is_alive) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (progress.step && progress.total && *progress.total > 0) {
    add(fmt::format(
        "step {} of {} ({:.0f} %)", *progress.step, *progress.total,
        100.0 * static_cast<double>(*progress.step) / static_cast<double>(*progress.total)));
  } else if (progress.step) {
    add(fmt::format("step {}", *progress.step));
  }
  if (progress.epoch) {
    add(progress.epochs ? fmt::format("epoch {:.4g} of {:.4g}", *progress.epoch, *progress.epochs)
                        : fmt::format("epoch {:.4g}", *progress.epoch));
  }
  if (progress.rate && is_alive) add(fmt::format("{:.3g} steps/s", *progress.rate));
  return text;
}

std::string metrics_text(const job::Progress& progress) {
  std::string text;
  for (const auto& [name, value] : progress.metrics) {
    if (progress.not_finite.contains(name)) continue;
    text += fmt::format("{}{}={:.6g}", text.empty() ? "" : " ", printable(name), value);
  }
  for (const std::string& name : progress.not_finite) {
    text += fmt::format("{}{} is not finite", text.empty() ? "" : ", ", printable(name));
  }
  return text;
}

std::string checkpoint_text(const agent::JobLook& look, sys::World& world) {
  if (!look.checkpoint) return "none yet";
  const agent::Beat::Committed& one = *look.checkpoint;
  const std::string step = one.step ? fmt::format(" at step {}", *one.step) : "";
  return fmt::format("{}{}, {}, {}", one.seq, step, format_ago(age_of(one.time, world)),
                     format_bytes_short(one.bytes));
}

// What only makes sense while somebody can act on it.
std::vector<std::vector<std::string>> live_lines(const agent::Beat& beat) {
  std::vector<std::vector<std::string>> lines;
  lines.push_back(
      {"unsaved", beat.lag ? "for " + format_duration_short(*beat.lag) : std::string("nothing")});
  if (!beat.next_save.empty()) lines.push_back({"next save", printable(beat.next_save)});
  if (beat.margin) {
    lines.push_back(
        {"margin",
         *beat.margin < Duration::zero()
             ? fmt::format("{} short: what is unsaved does not fit the notice",
                           format_duration_short(-*beat.margin))
             : fmt::format("{} to spare at a notice", format_duration_short(*beat.margin))});
  }
  if (beat.notice) {
    lines.push_back(
        {"notice", fmt::format("this machine ends at {} ({}{}{})", format_time(beat.notice->ends),
                               printable(beat.notice->source), beat.notice->why.empty() ? "" : ": ",
                               printable(beat.notice->why))});
  }
  return lines;
}

void print_status(const JobStatus& status, const std::string& name, Context& context) {
  const Terminal& terminal = context.terminal;
  std::string text = name + "\n";
  const auto line = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) text += definition(what, value, 2, 14, 100);
  };
  line("state", state_text(status, context.world));
  line("command", printable_whole(status.record.command));
  if (status.record.epoch != 0) {
    line("attempt", attempt_text(status, context.world));
    if (const auto& place = status.record.place) line("place", printable(job::describe(*place)));
    line("folder", printable_whole(status.record.folder));
    if (const auto& restored = status.record.restored) {
      line("resumed",
           fmt::format("from checkpoint {}{}", restored->seq,
                       restored->step ? fmt::format(" at step {}", *restored->step) : ""));
    }
  }
  if (const auto& beat = status.look.beat) {
    line("progress", progress_line_text(beat->progress, status.is_alive()));
    line("metrics", metrics_text(beat->progress));
  }
  line("checkpoint", checkpoint_text(status.look, context.world));
  if (const agent::Beat* beat = agent::live_beat(status.look)) {
    for (const auto& one : live_lines(*beat)) line(one[0], one[1]);
  }
  if (status.look.beat) line("trouble", printable_whole(status.look.beat->trouble));
  line("unreadable", printable_whole(status.look.unreadable));
  if (status.record.epoch != 0) {
    line("retries", fmt::format("{} of {} used{}{}", status.retry.failures, status.retries(),
                                status.record.ends.empty() ? "" : ": ",
                                status.record.ends.empty() ? "" : status.retry.why));
  }
  if (!status.events.empty()) text += "\n";
  for (const agent::AttemptEvent& one : status.events) {
    text += "  " + event_text(one, terminal) + "\n";
  }
  terminal.print(text);
}

Json status_json(const JobStatus& status) {
  Json json = look_json(status.look);
  json["attempts"] = status.attempts;
  if (status.record.epoch != 0) {
    json["attempt"] = parse_json(agent::encode_attempt(status.record)).value_or(Json());
  }
  if (status.look.ending) {
    json["ended"] = {{"kind", job::to_string(status.look.ending->kind)},
                     {"time", format_rfc3339(status.look.ending->time)},
                     {"why", status.look.ending->why}};
  }
  json["retries"] = {{"used", status.retry.failures}, {"allowed", status.retries()}};
  json["events"] = Json::array();
  for (const agent::AttemptEvent& one : status.events) json["events"].push_back(event_json(one));
  return json;
}

std::string next_step(const JobStatus& status, const Invocation& invocation) {
  const std::string& job = status.look.job;
  if (status.is_alive()) return "watch it: " + desk_command(invocation, "logs", job) + " -f";
  if (status.look.ending) return "go on with it: " + desk_command(invocation, "resume", job);
  return "go on with it: " + run_command_text(invocation, job, status.record);
}

Result<ExitCode> run_status(const Invocation& invocation, Context& context) {
  OUTLAST_TRY_ASSIGN(OpenJob job, open_desk_job(invocation, context.world));
  OUTLAST_TRY_ASSIGN(const JobStatus status, read_status(job, context));
  warn_of_damaged_entries(job, context.terminal);
  if (context.terminal.json()) {
    context.terminal.print_json(status_json(status));
    return ExitCode::kOk;
  }
  print_status(status, job.name(), context);
  context.terminal.note(next_step(status, invocation));
  return ExitCode::kOk;
}

}  // namespace

CommandSpec status_command() {
  return {
      .path = {"status"},
      .group = "Jobs",
      .summary = "Show everything about one job",
      .description =
          {"Prints how the job stands, its command, the newest attempt and where it runs, how far "
           "the trainer is, the newest checkpoint, what is not saved yet, when and why the next "
           "save comes, whether that fits the notice that the machine gets, what is wrong, how "
           "many retries are used, and the last events.",
           "It asks the root alone, so that it works whatever has become of the machine."},
      .positionals = {desk_job_positional()},
      .options = with_desk_root({}),
      .examples = {{.command = "outlast status j1", .does = "See how it is doing"},
                   {.command = "outlast status j1 --root s3://my-bucket/training --json",
                    .does = "The same for a script"}},
      .run = run_status,
  };
}

}  // namespace outlast::cli
