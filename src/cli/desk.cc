#include "cli/desk.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/attempt_record.h"
#include "agent/attempts.h"
#include "agent/beat.h"
#include "agent/job_look.h"
#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/shell_word.h"
#include "base/time.h"
#include "base/units.h"
#include "checkpoint/read_object.h"
#include "cli/ckpt_access.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"
#include "store/object_store.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr std::string_view kDefaultRoot = "./outlast-root";

}  // namespace

PositionalSpec desk_job_positional() {
  return {.name = "JOB", .help = "The job's name in the root"};
}

std::vector<OptionSpec> with_desk_root(std::vector<OptionSpec> own) {
  std::vector<OptionSpec> options = {
      {.name = "root",
       .value_name = "URL",
       .help = fmt::format("where the jobs are: a folder, s3://…, gs://… or az://… (default: {}, "
                           "as for 'outlast run')",
                           kDefaultRoot),
       .completes = Completes::kFiles}};
  for (OptionSpec& option : own) options.push_back(std::move(option));
  return options;
}

std::string desk_root(const Invocation& invocation) {
  return invocation.value("root").value_or(std::string(kDefaultRoot));
}

Result<OpenJob> open_desk_job(const Invocation& invocation, sys::World& world) {
  return open_job_at({.root = desk_root(invocation), .job = invocation.positionals.at(0)}, world);
}

agent::LookParts look_parts(store::ObjectStore& root, sys::World& world) {
  return {.root = root, .threads = world.threads, .clock = world.clock, .random = world.random};
}

std::string desk_command(const Invocation& invocation, const std::string& command,
                         const std::string& job) {
  const auto root = invocation.value("root");
  return fmt::format("outlast {}{}{}{}", command, job.empty() ? "" : " ", job,
                     root ? " --root " + shell_word(*root) : "");
}

Result<agent::AttemptRecord> newest_record(store::ObjectStore& job,
                                           const std::vector<job::Epoch>& epochs) {
  for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch) {
    Result<agent::AttemptRecord> record = agent::read_attempt(job, *epoch, {});
    if (record) return record;
    const bool is_missing = record.error().code() == ErrorCode::kNotFound;
    if (!is_missing && !checkpoint::is_damage(record.error())) return record;
  }
  return agent::AttemptRecord();
}

std::string run_command_text(const Invocation& invocation, const std::string& job,
                             const agent::AttemptRecord& record) {
  std::string command = record.command.empty() ? "COMMAND" : record.command;
  // What needs a shell to be understood must not be understood by the one it is typed into.
  if (command.find_first_of(";&|<>()$`\n") != std::string::npos) {
    command = "sh -c " + shell_word(command);
  }
  return fmt::format("outlast run --root {} --job {} -- {}", shell_word(desk_root(invocation)), job,
                     printable_whole(command));
}

std::string format_ago(Duration age) {
  if (age < std::chrono::seconds(1)) return "just now";
  return format_duration_short(std::chrono::floor<std::chrono::seconds>(age)) + " ago";
}

Duration age_of(WallTime time, sys::World& world) {
  return std::max(Duration::zero(), world.clock.wall_now() - time);
}

Duration heard_ago(const agent::JobLook& look, sys::World& world) {
  if (!look.beat) return {};
  // A last word may have been put again since, by a resume.
  return look.beat->state == agent::AgentState::kEnded ? age_of(look.beat->time, world)
                                                       : look.beat_age;
}

Json look_json(const agent::JobLook& look) {
  Json json = {{"job", look.job}, {"state", agent::to_string(agent::judge(look))}};
  if (look.checkpoint) {
    json["checkpoint"] = {{"seq", look.checkpoint->seq},
                          {"time", format_rfc3339(look.checkpoint->time)},
                          {"bytes", look.checkpoint->bytes}};
    if (look.checkpoint->step) json["checkpoint"]["step"] = *look.checkpoint->step;
  }
  if (!look.unreadable.empty()) json["unreadable"] = look.unreadable;
  if (!look.beat) return json;
  // As it is stored, so that scripts find all of it under the names that are documented.
  json["beat"] = parse_json(agent::encode_beat(*look.beat)).value_or(Json());
  json["beat_age_seconds"] = std::chrono::duration<double>(look.beat_age).count();
  json["alive"] = agent::is_alive(look);
  return json;
}

}  // namespace outlast::cli
