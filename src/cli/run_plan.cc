#include "cli/run_plan.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/trainer.h"
#include "base/ascii.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "base/shell_word.h"
#include "cli/program/command_line.h"
#include "cli/program/text_layout.h"
#include "cli/run_notices.h"
#include "job/spec.h"
#include "job/spec_json.h"
#include "notice/slurm_place.h"
#include "store/open/store_url.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

namespace outlast::cli {
namespace {

constexpr std::size_t kNameWordMax = 40;
constexpr std::size_t kNameHashDigits = 6;

Error wrong(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

// What people would call it: of "python3 -u src/train.py --lr 1" it is "train".
std::string word_of(const std::vector<std::string>& command) {
  std::string_view word = sys::base_name(command.front());
  static constexpr std::string_view kLaunchers[] = {"python",   "python3", "bash", "sh",     "env",
                                                    "torchrun", "uv",      "perl", "Rscript"};
  if (std::ranges::find(kLaunchers, word) != std::end(kLaunchers)) {
    for (std::size_t i = 1; i < command.size(); ++i) {
      const std::string_view name = sys::base_name(command[i]);
      if (command[i].starts_with('-') || name.rfind('.') == std::string_view::npos) continue;
      word = name.substr(0, name.rfind('.'));
      break;
    }
  }
  std::string clean;
  for (const char c : ascii_lower(word.substr(0, kNameWordMax))) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain) clean += c;
    if (!is_plain && !clean.empty() && clean.back() != '-') clean += '-';
  }
  while (clean.ends_with('-')) clean.pop_back();
  return clean.empty() ? "job" : clean;
}

// One word that is a whole command line was meant for the shell.
bool is_line(const std::vector<std::string>& command) {
  return command.size() == 1 &&
         command.front().find_first_of(" \t\n;|&$<>()`\"'") != std::string::npos;
}

// As somebody would type it.
std::string typed(const std::vector<std::string>& command) {
  if (is_line(command)) return command.front();
  std::vector<std::string> words;
  words.reserve(command.size());
  for (const std::string& word : command) words.push_back(shell_word(word));
  return fmt::format("{}", fmt::join(words, " "));
}

// The options in the words of a job file.
Json with_options(Json json, const Invocation& invocation) {
  const auto take = [&](std::string_view option, Json& into) {
    if (const auto value = invocation.value(option)) into = *value;
  };
  take("root", json["root"]);
  take("job", json["name"]);
  take("grace", json["grace"]);
  take("lifetime", json["lifetime"]);
  take("on-done", json["on_done"]);
  Json& checkpoint = json["checkpoint"];
  if (!checkpoint.is_object()) checkpoint = Json::object();
  take("every", checkpoint["every"]);
  if (const auto dir = invocation.value("checkpoint")) {
    checkpoint["dir"] = *dir == "auto" ? Json(nullptr) : Json(*dir);
  }
  for (auto at = json.begin(); at != json.end();) at = at->is_null() ? json.erase(at) : ++at;
  for (auto at = checkpoint.begin(); at != checkpoint.end();) {
    at = at->is_null() ? checkpoint.erase(at) : ++at;
  }
  return json;
}

// What a job file may ask for and nobody here does yet. To go on without a container would be to
// run something else than what was asked for.
Result<void> take_what_is_not_done(const job::Spec& spec, RunPlan& plan) {
  if (spec.container || spec.git) {
    return wrong(
        fmt::format("'{}' of a job file is not acted on by 'outlast run' yet: run outlast "
                    "{}, and leave the key out",
                    spec.container ? "container" : "git",
                    spec.container ? "inside of the container" : "in the checked-out tree"));
  }
  if (spec.setup) plan.not_done.emplace_back("setup");
  if (spec.budget) plan.not_done.emplace_back("budget");
  if (spec.deadline) plan.not_done.emplace_back("deadline");
  if (spec.notify) plan.not_done.emplace_back("notify");
  if (!spec.cache.empty()) plan.not_done.emplace_back("cache");
  return {};
}

Result<void> take_folders(const std::string& here, RunPlan& plan, sys::World& world) {
  plan.trainer.folder = here;
  plan.watched = here;
  if (!plan.spec.checkpoint.dir) return {};
  const std::string& dir = *plan.spec.checkpoint.dir;
  plan.watched = dir == "." ? here : sys::join_path(here, dir);
  if (here == plan.watched || here.starts_with(plan.watched + "/")) {
    return wrong(
        fmt::format("the folder of the checkpoints is {}, which holds more than "
                    "checkpoints: name a folder in it, or let them be found (auto)",
                    printable(plan.watched)));
  }
  const auto info = world.files.stat(plan.watched);
  if (info && info->type == sys::FileType::kFile) {
    return wrong(
        fmt::format("the folder of the checkpoints, {}, is a file", printable(plan.watched)));
  }
  plan.recognise = trainer_files::Recognise::kEverything;
  return {};
}

}  // namespace

std::string job_name_of(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += word + '\0';
  return fmt::format("{}-{}", word_of(command),
                     sha256(as_bytes(text)).hex().substr(0, kNameHashDigits));
}

Result<RunPlan> make_run_plan(const Invocation& invocation,
                              const std::optional<job::SpecReading>& reading, sys::World& world) {
  RunPlan plan;
  const std::vector<std::string>& command = invocation.trailing;
  if (!reading && command.empty()) {
    return wrong("what is to be run? Give a job file, or a command after '--'");
  }
  if (!command.empty() && command.front().empty()) return wrong("the command after '--' is empty");
  Json json = reading && reading->spec ? job::to_json(*reading->spec) : Json::object();
  if (!command.empty()) json["run"] = typed(command);
  plan.named_itself = !reading && !invocation.value("job");
  if (plan.named_itself) json["name"] = job_name_of(command);
  json = with_options(std::move(json), invocation);
  const std::string suffix = notice::slurm_array_suffix(world.environment);
  if (const auto name = json.find("name"); name != json.end() && name->is_string()) {
    if (!name->get<std::string>().ends_with(suffix)) *name = name->get<std::string>() + suffix;
  }
  OUTLAST_TRY_ASSIGN(plan.spec, job::spec_from_json(json));
  plan.command = plan.spec.run;
  plan.trainer.argv =
      command.empty() || is_line(command) ? agent::shell_argv(plan.spec.run) : command;
  plan.take_over_now = invocation.flag("take-over");
  // On somebody's own machine, only if he said so.
  const bool file_says =
      reading && std::ranges::find(reading->defaulted, "on_done") == reading->defaulted.end();
  plan.shuts_down =
      (file_says || invocation.value("on-done")) && plan.spec.on_done == job::OnDone::kShutdown;
  OUTLAST_TRY(take_notices(invocation, world.environment, plan));
  OUTLAST_TRY(take_what_is_not_done(plan.spec, plan));
  OUTLAST_TRY(take_folders(world.environment.working_dir(), plan, world));
  OUTLAST_TRY_ASSIGN(plan.root, store::parse_store_url(plan.spec.root));
  if (plan.root.kind == store::StoreKind::kFolder) {
    plan.root.path = sys::join_path(world.environment.working_dir(), plan.root.path);
  }
  return plan;
}

Result<void> find_program(const RunPlan& plan, sys::World& world) {
  const std::string& program = plan.trainer.argv.front();
  if (program.find('/') != std::string::npos) {
    const Result<sys::FileInfo> info =
        world.files.stat(sys::join_path(plan.trainer.folder, program));
    if (info || info.error().code() != ErrorCode::kNotFound) return {};
    return Error(ErrorCode::kNotFound, fmt::format("there is no program '{}'", printable(program)));
  }
  const std::optional<std::string> path = world.environment.get("PATH");
  if (!path) return {};
  for (std::size_t at = 0; at <= path->size();) {
    const std::size_t end = std::min(path->find(':', at), path->size());
    const std::string folder = sys::join_path(plan.trainer.folder, path->substr(at, end - at));
    // What cannot be looked at is left to whoever starts it.
    const Result<sys::FileInfo> info = world.files.stat(sys::join_path(folder, program));
    if (info || info.error().code() != ErrorCode::kNotFound) return {};
    at = end + 1;
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("there is no program '{}' in PATH", printable(program)));
}

}  // namespace outlast::cli
