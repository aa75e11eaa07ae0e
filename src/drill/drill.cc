#include "drill/drill.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "drill/clean_folder.h"
#include "drill/expectations.h"
#include "drill/final_result.h"
#include "drill/findings.h"
#include "drill/life_record.h"
#include "drill/printed_steps.h"
#include "drill/rehearsal.h"
#include "drill/report.h"
#include "drill/schedule.h"
#include "job/spec.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

namespace outlast::drill {
namespace {

constexpr Duration kPatienceMin = std::chrono::minutes(2);
constexpr int kPatienceRuns = 5;  // undisturbed ones
constexpr std::uint64_t kRunFileMax = 1U << 20U;
constexpr std::size_t kScratchToken = 8;

Duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

Error wrong_request(std::string sentence) {
  return {ErrorCode::kInvalidArgument, std::move(sentence)};
}

Result<void> check_request(sys::World& world, const DrillOptions& options,
                           const sys::CallContext& ctx) {
  if (options.spec.checkpoint.dir && options.spec.checkpoint.dir->starts_with('/')) {
    return wrong_request(
        fmt::format("the folder of the checkpoints is {}: in a drill each machine has a clean one, "
                    "so it must be "
                    "given relative to the folder that the trainer runs in",
                    *options.spec.checkpoint.dir));
  }
  if (options.keep) {
    const Result<std::vector<sys::DirectoryEntry>> there = world.files.list(*options.keep);
    if (there && !there->empty()) {
      return wrong_request(
          fmt::format("{} is not empty: a drill is kept in a folder of its own", *options.keep));
    }
    if (!there && there.error().code() != ErrorCode::kNotFound) return there.error();
  }
  OUTLAST_TRY(measure_copy(world.files, Rehearsal::copy_plan(options, options.keep.value_or("")),
                           kCopyBytesMax, ctx));
  return {};
}

Result<std::string> make_scratch(sys::World& world, const DrillOptions& options) {
  if (options.keep) {
    OUTLAST_TRY(sys::make_dirs(world.files, *options.keep));
    return *options.keep;
  }
  const std::string temporary = world.environment.get("TMPDIR").value_or("/tmp");
  std::string path =
      sys::join_path(temporary.empty() ? "/tmp" : temporary,
                     fmt::format("outlast-drill-{}", make_token(world.random, kScratchToken)));
  OUTLAST_TRY(world.files.make_dir(path).while_doing("make a folder for the drill"));
  return path;
}

class Drill {
 public:
  Drill(sys::World& world, const DrillOptions& options, Watcher& watcher, std::string scratch)
      : world_(world),
        options_(options),
        watcher_(watcher),
        scratch_(std::move(scratch)),
        rehearsal_(world, options, watcher, scratch_) {}

  Result<Report> run(const sys::CallContext& ctx) {
    report_ = {.version = options_.version,
               .job = options_.spec.name.str(),
               .command = options_.command_text,
               .source = std::string(to_string(options_.source)),
               .began = world_.clock.wall_now()};
    OUTLAST_TRY(options_.baseline ? take_baseline(*options_.baseline, ctx) : run_undisturbed(ctx));
    OUTLAST_TRY_ASSIGN(Rehearsal::RunPlan plan, plan_disturbed());
    report_.planned = plan.schedule.size();
    report_.notice_time = std::chrono::duration<double>(plan.notice_time).count();
    OUTLAST_TRY_ASSIGN(disturbed_, rehearsal_.run(std::move(plan), ctx));
    find_scale_of_all();
    report_.disturbed = measure(disturbed_, scale_);
    if (report_.disturbed.outcome == "done") OUTLAST_TRY(compare(ctx));
    report_.findings = find_out(report_, disturbed_, scale_);
    report_.expectations = judge_rehearsal(report_);
    std::ranges::move(judge(options_.expected, report_), std::back_inserter(report_.expectations));
    report_.is_passed = std::ranges::all_of(report_.expectations, &Expectation::is_met);
    return std::move(report_);
  }

 private:
  std::string job() const { return options_.spec.name.str(); }

  void find_scale_of_all() {
    std::vector<const std::vector<StepSample>*> lives;
    for (const auto* const run : {&undisturbed_, &again_, &disturbed_}) {
      for (const LifeRecord& record : *run) lives.push_back(&record.samples);
    }
    scale_ = find_scale(lives);
  }

  // A run that nobody disturbs must be done and have saved something.
  Result<std::vector<LifeRecord>> run_alone(const std::string& name, const sys::CallContext& ctx) {
    OUTLAST_TRY_ASSIGN(
        std::vector<LifeRecord> records,
        rehearsal_.run({.name = name, .patience = Duration::max(), .schedule = {}}, ctx));
    const LifeRecord& last = records.back();
    if (last.life.outcome != "done") {
      return Error(ErrorCode::kFailed,
                   fmt::format("the undisturbed run did not come to an end: {}\n{}", last.why,
                               fmt::join(last.last_words, "\n")));
    }
    if (last.life.saves.empty()) {
      return Error(ErrorCode::kFailed,
                   "the undisturbed run was done and nothing was saved, so there is nothing to "
                   "rehearse. If the trainer's checkpoints have names that outlast does not know, "
                   "give their folder: --checkpoint DIR. If it was done at once, it has found old "
                   "checkpoints in this folder");
    }
    return records;
  }

  Result<void> run_undisturbed(const sys::CallContext& ctx) {
    OUTLAST_TRY_ASSIGN(undisturbed_, run_alone("undisturbed", ctx));
    find_scale_of_all();
    report_.undisturbed = measure(undisturbed_, scale_);
    OUTLAST_TRY_ASSIGN(result_, load_result(world_, rehearsal_.root_of("undisturbed"), job(), ctx));
    if (!options_.keep) return {};
    const Json run = {{"job", job()},
                      {"command", options_.command_text},
                      {"seconds", report_.undisturbed->seconds},
                      {"training_seconds", report_.undisturbed->training_seconds},
                      {"stored_bytes", report_.undisturbed->stored_bytes}};
    return sys::write_file_atomically(world_.files,
                                      sys::join_path(scratch_, "undisturbed/run.json"),
                                      as_bytes(pretty_json(run) + "\n"));
  }

  Result<void> take_baseline(const std::string& kept, const sys::CallContext& ctx) {
    const std::string folder = sys::join_path(kept, "undisturbed");
    Result<FinalResult> result = load_result(world_, sys::join_path(folder, "root"), job(), ctx);
    if (!result) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("{} holds no undisturbed run of job '{}', as 'outlast drill --keep' "
                               "leaves one: {}",
                               kept, job(), result.error().to_string()));
    }
    result_ = *std::move(result);
    const Result<std::string> text =
        sys::read_file(world_.files, sys::join_path(folder, "run.json"), kRunFileMax);
    const Result<Json> json = text ? parse_json(*text) : Result<Json>(text.error());
    if (!json) return {};
    const Result<double> seconds = json_number(*json, "seconds");
    const Result<double> training = json_number(*json, "training_seconds");
    if (!seconds || !training) return {};
    report_.undisturbed = Run{.seconds = *seconds,
                              .training_seconds = *training,
                              .stored_bytes = json_uint(*json, "stored_bytes").value_or(0),
                              .outcome = "done"};
    return {};
  }

  Result<Rehearsal::RunPlan> plan_disturbed() {
    Rehearsal::RunPlan plan = {.name = "disturbed", .source = options_.source};
    std::vector<Planned> schedule;
    if (options_.schedule) {
      schedule = *options_.schedule;
    } else if (options_.poisson) {
      Random random(options_.seed);
      schedule = poisson_schedule(options_.preemptions, *options_.poisson, options_.source, random);
    } else {
      if (!report_.undisturbed) {
        return wrong_request(
            "how long an undisturbed run takes was not kept: say when to disturb this one, with "
            "--schedule or --poisson");
      }
      schedule =
          even_schedule(options_.preemptions, from_seconds(report_.undisturbed->training_seconds),
                        options_.source);
    }
    plan.notice_time = options_.notice_time.value_or(kNoticeTime);
    if (!options_.notice_time) {
      // Of a short run a long notice would be all there is: most trainers train on until its end.
      const auto least = std::ranges::min_element(schedule, {}, &Planned::after);
      // But it must be heard, too.
      const Duration enough = heard_after(options_.source) + std::chrono::seconds(1);
      plan.notice_time = std::min(plan.notice_time, std::max<Duration>(least->after / 2, enough));
    }
    plan.patience = kPatienceMin;
    if (report_.undisturbed) {
      plan.patience =
          std::max(plan.patience, from_seconds(report_.undisturbed->seconds * kPatienceRuns));
    }
    plan.schedule.assign(schedule.begin(), schedule.end());
    return plan;
  }

  Result<void> compare(const sys::CallContext& ctx) {
    const trainer_files::Recognise recognise = rehearsal_.trainer_place().recognise;
    OUTLAST_TRY_ASSIGN(const FinalResult other,
                       load_result(world_, rehearsal_.root_of("disturbed"), job(), ctx));
    report_.comparison = compare_results(result_, other, recognise);
    if (report_.comparison->is_identical) return {};
    watcher_.happened("the result is another one: does the trainer repeat itself at all?");
    OUTLAST_TRY_ASSIGN(again_, run_alone("repeated", ctx));
    OUTLAST_TRY_ASSIGN(const FinalResult repeated,
                       load_result(world_, rehearsal_.root_of("repeated"), job(), ctx));
    report_.comparison->is_repeatable = compare_results(result_, repeated, recognise).is_identical;
    const std::vector<LifeRecord>& first = undisturbed_.empty() ? again_ : undisturbed_;
    report_.comparison->first_other_step = first_other_step(first, again_, disturbed_, scale_);
    return {};
  }

  sys::World& world_;
  const DrillOptions& options_;
  Watcher& watcher_;
  const std::string scratch_;
  Rehearsal rehearsal_;
  Report report_;
  std::vector<LifeRecord> undisturbed_;
  std::vector<LifeRecord> again_;  // the undisturbed run once more
  std::vector<LifeRecord> disturbed_;
  StepScale scale_;
  FinalResult result_;  // of the undisturbed run
};

}  // namespace

Result<Report> run_drill(sys::World& world, const DrillOptions& options, Watcher& watcher,
                         const sys::CallContext& ctx) {
  OUTLAST_TRY(check_request(world, options, ctx));
  OUTLAST_TRY_ASSIGN(const std::string scratch, make_scratch(world, options));
  Result<Report> report = Drill(world, options, watcher, scratch).run(ctx);
  if (!options.keep) {
    const Result<void> removed = sys::remove_tree(world.files, scratch);
    if (!removed) watcher.happened(removed.error().to_string());
  }
  return report;
}

}  // namespace outlast::drill
