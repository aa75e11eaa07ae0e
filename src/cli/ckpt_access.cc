#include "cli/ckpt_access.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoints.h"
#include "checkpoint/safetensors.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "job/log_entry.h"
#include "job/scalars.h"
#include "store/object_store.h"
#include "store/open/open_store.h"
#include "store/open/store_url.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr std::string_view kJobsPrefix = "jobs/";
// A sentence can name so many; who has more looks with 'store ls'.
constexpr std::size_t kJobsNamedMax = 8;

// Machine and process, for the log. Where /proc does not tell the process, the machine alone.
std::string writer_name(sys::World& world) {
  std::string name = world.environment.host_name();
  if (const Result<std::string> process = world.files.read_symlink("/proc/self")) {
    name += " " + *process;
  }
  return name;
}

// A folder that is not there is no empty root: more likely it is not mounted, or mistyped.
Result<void> check_root_folder(const store::StoreUrl& url, sys::World& world) {
  if (url.kind != store::StoreKind::kFolder) return {};
  const Result<sys::FileInfo> info = world.files.stat(url.path);
  if (!info && info.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no root {}: no such folder; is it mounted here, and is "
                             "--root right?",
                             printable(url.path)));
  }
  if (info && info->type == sys::FileType::kFile) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the root {} is a file: give --root a folder or the URL of a bucket",
                             printable(url.path)));
  }
  return {};
}

// "; it has the jobs a, b and 5 more", as a clause; one request.
std::string jobs_of(store::ObjectStore& root) {
  const Result<store::ListPage> page =
      root.list({.prefix = std::string(kJobsPrefix), .folders = true}, {});
  if (!page) return "";
  if (page->folders.empty()) return "; this root has no jobs at all, is --root right?";
  std::vector<std::string> names;
  for (const std::string& folder : page->folders) {
    if (names.size() == kJobsNamedMax) break;
    names.push_back(
        printable(folder.substr(kJobsPrefix.size(), folder.size() - kJobsPrefix.size() - 1)));
  }
  const std::size_t more = page->folders.size() - names.size();
  return fmt::format("; this root has {}{}", fmt::join(names, ", "),
                     more > 0 || !page->next.empty() ? " and more" : "");
}

enum class IfNone { kRefuse, kStart };

Result<OpenJob> open_as(const JobPlace& place, sys::World& world, IfNone if_none) {
  if (const auto name = job::read_name(place.job); !name) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' cannot be the name of a job: {}", printable(place.job),
                             name.error().empty() ? "it has up to 63 lower-case letters, digits, "
                                                    "'-', '_' and '.'"
                                                  : name.error()));
  }
  OUTLAST_TRY_ASSIGN(const store::StoreUrl url, store::parse_store_url(place.root));
  if (if_none == IfNone::kStart && url.kind == store::StoreKind::kFolder &&
      !world.files.stat(url.path)) {
    OUTLAST_TRY(sys::make_dirs(world.files, url.path).while_doing("make the root"));
  }
  OpenJob open;
  OUTLAST_TRY_ASSIGN(open.root, open_root(place.root, world));
  OUTLAST_TRY_ASSIGN(open.checkpoints, checkpoint::Checkpoints::open({.root = *open.root,
                                                                      .files = world.files,
                                                                      .threads = world.threads,
                                                                      .clock = world.clock,
                                                                      .random = world.random,
                                                                      .writer = writer_name(world)},
                                                                     place.job, {}));
  if (if_none == IfNone::kRefuse && open.checkpoints->is_empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no {}{}", open.name(), jobs_of(*open.root)));
  }
  return open;
}

}  // namespace

std::vector<OptionSpec> with_job_options(std::vector<OptionSpec> own) {
  std::vector<OptionSpec> options = {
      {.name = "root",
       .value_name = "URL",
       .help = "where the jobs are: a folder, s3://…, gs://… or az://…",
       .required = true,
       .completes = Completes::kFiles},
      {.name = "job", .value_name = "NAME", .help = "the job's name in the root", .required = true},
  };
  for (OptionSpec& option : own) options.push_back(std::move(option));
  return options;
}

OptionSpec seq_option(std::string_view otherwise) {
  return {
      .name = "seq",
      .value_name = "N",
      .help = fmt::format("this checkpoint, by its number in 'ckpt ls' (default: {})", otherwise),
      .number = true};
}

std::string OpenJob::name() const {
  std::string url = root->url_of("");
  if (url.size() > 1 && url.ends_with('/')) url.pop_back();
  return fmt::format("job '{}' in {}", checkpoints->job(), printable(url));
}

Result<std::unique_ptr<store::ObjectStore>> open_root(const std::string& root, sys::World& world) {
  OUTLAST_TRY_ASSIGN(const store::StoreUrl url, store::parse_store_url(root));
  OUTLAST_TRY(check_root_folder(url, world));
  OUTLAST_TRY_ASSIGN(std::unique_ptr<store::ObjectStore> store, store::open_store(url, world));
  return store;
}

Result<OpenJob> open_job_at(const JobPlace& place, sys::World& world) {
  return open_as(place, world, IfNone::kRefuse);
}

Result<OpenJob> open_job(const Invocation& invocation, sys::World& world) {
  return open_job_at({.root = invocation.required("root"), .job = invocation.required("job")},
                     world);
}

Result<OpenJob> open_or_start_job(const Invocation& invocation, sys::World& world) {
  return open_as({.root = invocation.required("root"), .job = invocation.required("job")}, world,
                 IfNone::kStart);
}

Result<job::LogEntry> find_checkpoint(const Invocation& invocation, OpenJob& job) {
  if (const auto seq = invocation.number("seq")) return job.checkpoints->find(*seq, {});
  OUTLAST_TRY_ASSIGN(std::vector<job::LogEntry> entries, job.checkpoints->list({}));
  if (entries.empty()) {
    return Error(ErrorCode::kNotFound, fmt::format("{} has no checkpoint yet", job.name()));
  }
  return std::move(entries.back());
}

ExitCode wrong_value(const Invocation& invocation, const Context& context, std::string sentence) {
  context.terminal.error("wrong command line",
                         with_help_hint(std::move(sentence), *invocation.command));
  return ExitCode::kWrongCommandLine;
}

void warn_of_damaged_entries(OpenJob& job, const Terminal& terminal) {
  for (const auto& [seq, damage] : job.checkpoints->log().history().damaged()) {
    terminal.warn(fmt::format("entry {} of the log of {} cannot be read and counts for nothing: {}",
                              seq, job.name(), damage.to_string()));
  }
}

std::string format_time(WallTime time) {
  std::string text = format_rfc3339(time).substr(0, 19) + "Z";
  text[10] = ' ';
  return text;
}

std::string format_metrics(const job::CheckpointFacts& facts) {
  std::string text;
  for (const auto& [name, value] : facts.metrics) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", printable(name), value);
  }
  return text;
}

std::string format_seqs(const std::vector<job::Seq>& seqs) {
  if (seqs.size() < 2) return fmt::format("{}", fmt::join(seqs, ""));
  return fmt::format("{} and {}", fmt::join(seqs.begin(), seqs.end() - 1, ", "), seqs.back());
}

std::string format_type(const checkpoint::Tensor& tensor) {
  return fmt::format("{} [{}]", checkpoint::to_string(tensor.dtype), fmt::join(tensor.shape, ", "));
}

Json checkpoint_json(const job::LogEntry& entry) {
  const job::CheckpointFacts& facts = entry.checkpoint;
  Json json = {{"seq", entry.seq},
               {"epoch", entry.epoch},
               {"time", format_rfc3339(entry.time)},
               {"why", entry.why},
               {"writer", entry.writer},
               {"files", facts.files},
               {"bytes", facts.bytes},
               {"stored_bytes", facts.stored_bytes},
               {"metrics", facts.metrics}};
  if (facts.step) json["step"] = *facts.step;
  return json;
}

}  // namespace outlast::cli
