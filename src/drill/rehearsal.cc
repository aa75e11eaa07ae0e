#include "drill/rehearsal.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "drill/bad_news.h"
#include "drill/clean_folder.h"
#include "drill/drill.h"
#include "drill/life.h"
#include "drill/life_record.h"
#include "drill/machine_end.h"
#include "drill/report.h"
#include "drill/schedule.h"
#include "job/progress_reader.h"
#include "job/spec.h"
#include "job/spec_text.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

namespace outlast::drill {
namespace {

// Beyond those that are taken away: who leaves by itself again and again comes to no end.
constexpr std::uint64_t kSpareMachines = 20;

std::string told(const Injection& injection, const Life& life) {
  return fmt::format("{} after {}", to_string(injection.trouble),
                     format_duration_short(std::chrono::milliseconds(static_cast<std::int64_t>(
                         (injection.at - life.training.value_or(life.began)) * 1000))));
}

std::string life_line(const std::string& run, const Life& life) {
  std::string line = fmt::format("{} run, machine {}", run, life.number);
  std::string sep = ": ";
  for (const Injection& injection : life.injections) {
    line += std::exchange(sep, ", ") + told(injection, life);
  }
  return line + sep + life.outcome;
}

}  // namespace

Rehearsal::Rehearsal(sys::World& world, const DrillOptions& options, Watcher& watcher,
                     std::string scratch)
    : world_(world), options_(options), watcher_(watcher), scratch_(std::move(scratch)) {}

std::string Rehearsal::machine_folder() const {
  return sys::join_path(scratch_, "machine");
}

std::string Rehearsal::root_of(const std::string& run) const {
  return sys::join_path(scratch_, run + "/root");
}

TrainerPlace Rehearsal::trainer_place() const {
  const std::optional<std::string>& dir = options_.spec.checkpoint.dir;
  if (!dir) return {.folder = machine_folder()};
  return {.folder = sys::join_path(machine_folder(), *dir),
          .recognise = trainer_files::Recognise::kEverything};
}

CopyPlan Rehearsal::copy_plan(const DrillOptions& options, const std::string& scratch) {
  CopyPlan plan = {.from = options.folder, .files = options.spec.files};
  plan.left_out_names = {".git", ".outlast-run", "outlast-root"};
  const auto leave_out = [&](const std::string& path) {
    std::string inside =
        std::filesystem::path(path).lexically_normal().lexically_relative(options.folder).string();
    while (inside.ends_with('/')) inside.pop_back();
    if (!inside.empty() && inside != "." && !inside.starts_with("..")) plan.left_out.insert(inside);
  };
  if (!scratch.empty()) leave_out(scratch);
  leave_out(sys::join_path(options.folder, options.spec.root));
  if (options.keep) leave_out(*options.keep);
  if (options.baseline) leave_out(*options.baseline);
  if (const auto& dir = options.spec.checkpoint.dir)
    leave_out(sys::join_path(options.folder, *dir));
  return plan;
}

Result<std::vector<LifeRecord>> Rehearsal::run(RunPlan plan, const sys::CallContext& ctx) {
  OUTLAST_TRY(sys::make_dirs(world_.files, root_of(plan.name)));
  std::vector<LifeRecord> records;
  const std::uint64_t machines_max = plan.schedule.size() + kSpareMachines;
  double clock = 0;
  for (std::uint64_t number = 1; number <= machines_max; ++number) {
    OUTLAST_TRY_ASSIGN(LifeRecord record, live(plan, number, clock, plan.schedule, ctx));
    watcher_.happened(life_line(plan.name, record.life));
    OUTLAST_TRY(clear_machine(plan.name, number));
    // What the drill itself does between two machines is not counted.
    clock = record.life.ended;
    const std::string outcome = record.life.outcome;
    records.push_back(std::move(record));
    if (outcome != "left" && outcome != "gone") break;
  }
  return records;
}

Result<LifeRecord> Rehearsal::live(const RunPlan& plan, std::uint64_t number, double began,
                                   std::deque<Planned>& schedule, const sys::CallContext& ctx) {
  const std::string news_folder = sys::join_path(scratch_, fmt::format("news-{}", number));
  OUTLAST_TRY(sys::make_dirs(world_.files, news_folder));
  OUTLAST_TRY(sys::make_dirs(world_.files, machine_folder()));
  OUTLAST_TRY(copy_files(world_.files, copy_plan(options_, scratch_), machine_folder(), ctx));
  OUTLAST_TRY_ASSIGN(const std::string job_file, write_job_file(plan));
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<BadNews> news,
                     make_bad_news(plan.source, {.world = world_, .folder = news_folder}));
  MachinePlan machine = {.folder = machine_folder(),
                         .trainer = trainer_place(),
                         .notice_time = plan.notice_time,
                         .patience = plan.patience};
  machine.argv = {options_.program, "run", "--json", "--take-over", job_file};
  for (const std::string& word : news->options()) machine.argv.push_back(word);
  if (!options_.command.empty()) machine.argv.emplace_back("--");
  machine.argv.insert(machine.argv.end(), options_.command.begin(), options_.command.end());
  if (const auto& regex = options_.spec.progress.regex) {
    OUTLAST_TRY_ASSIGN(machine.progress, job::compile_progress_regex(*regex));
  }
  const std::string who = fmt::format("{} run, machine {}", plan.name, number);
  watcher_.doing(who + ": starts");
  LifeDriver driver(world_, *news, std::move(machine), [&](const std::string& words) {
    watcher_.doing(fmt::format("{}: {}", who, words));
  });
  Result<LifeRecord> record = driver.run(number, began, schedule, ctx);
  if (record) OUTLAST_TRY(sys::remove_tree(world_.files, news_folder));
  return record;
}

// The job as it is, but for what a drill must not do (power a machine off, try again what it is to
// find) and what it decides itself.
Result<std::string> Rehearsal::write_job_file(const RunPlan& plan) {
  job::Spec spec = options_.spec;
  spec.root = root_of(plan.name);
  spec.on_done = job::OnDone::kKeep;
  spec.retries = 0;
  spec.lifetime.reset();
  spec.deadline.reset();
  spec.budget.reset();
  spec.notify.reset();
  spec.files.clear();
  spec.cache.clear();
  if (plan.notice_time > Duration::zero()) spec.grace = plan.notice_time;
  std::string path = sys::join_path(scratch_, plan.name + "/job.yaml");
  OUTLAST_TRY(sys::write_file_atomically(world_.files, path, as_bytes(job::spec_text(spec))));
  return path;
}

Result<void> Rehearsal::clear_machine(const std::string& run, std::uint64_t number) {
  if (!options_.keep) return sys::remove_tree(world_.files, machine_folder());
  return world_.files.rename(machine_folder(),
                             sys::join_path(scratch_, fmt::format("{}/machine-{}", run, number)));
}

}  // namespace outlast::drill
