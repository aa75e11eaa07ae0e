#include "trainers/train_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/result.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "trainers/data_place.h"
#include "trainers/job_folder.h"
#include "trainers/learner.h"
#include "trainers/leave_request.h"
#include "trainers/metrics.h"
#include "trainers/plot.h"
#include "trainers/schedule.h"
#include "trainers/train_options.h"
#include "trainers/train_progress.h"
#include "trainers/training_state.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kLogLines = 500;
constexpr std::uint64_t kPointsMax = 20'000;

// A short name of a model: equal for equal bits.
std::string digest(const Weights& weights) {
  Sha256 hash;
  for (const WeightTensor& tensor : weights.tensors) {
    hash.update(as_bytes(tensor.name));
    hash.update(tensor.data);
  }
  return hash.finish().hex().substr(0, 16);
}

constexpr const char* kThreads = "threads";

HyperParameters deciding_parameters(const TrainPlan& plan) {
  HyperParameters values = plan.hyper_parameters;
  if (plan.use_threads) values[kThreads] = std::to_string(plan.options.threads);
  return values;
}

class Training {
 public:
  Training(Learner& learner, const TrainPlan& plan, cli::Context& context, JobFolder folder)
      : learner_(learner),
        plan_(plan),
        context_(context),
        folder_(std::move(folder)),
        steps_(plan.options.total_steps(plan.steps_per_epoch)),
        log_steps_(std::max<std::uint64_t>(steps_ / kLogLines, 1)),
        eval_steps_(plan.options.eval_steps > 0 ? plan.options.eval_steps : plan.steps_per_epoch),
        state_({.learner = learner,
                .hyper_parameters = deciding_parameters(plan),
                .snapshots = {.every_steps = plan.options.checkpoint_steps,
                              .folder = folder_.checkpoints_path()},
                .points_max = static_cast<std::size_t>(points())}),
        progress_(context, {.steps = steps_,
                            .steps_per_epoch = plan.steps_per_epoch,
                            .examples_name = plan.examples_name}),
        leave_(context.world.own_signals, context.world.threads) {}

  Result<cli::ExitCode> run() {
    if (!plan_.options.threads_given) state_.follow(kThreads);
    OUTLAST_TRY_ASSIGN(const std::optional<std::uint64_t> resumed,
                       state_.resume(plan_.options.change_hyper_parameters));
    if (resumed) {
      context_.terminal.note(fmt::format("resuming from step {} of {}", *resumed, steps_));
    }
    if (plan_.use_threads) take_threads();
    if (plan_.begins) OUTLAST_TRY(plan_.begins(folder_, resumed.value_or(0)));
    progress_.begin();
    for (std::uint64_t step = resumed.value_or(0); step < steps_; ++step) {
      OUTLAST_TRY_ASSIGN(const bool goes_on, one_step(step));
      if (!goes_on) return left(step + 1);
    }
    return finish();
  }

 private:
  void take_threads() {
    const std::string& text = state_.hyper_parameters().at(kThreads);
    const unsigned threads = parse_number<unsigned>(text).value_or(plan_.options.threads);
    if (threads != plan_.options.threads) {
      context_.terminal.note(
          fmt::format("computing with {} threads, as it began, for the same bits ({} would be the "
                      "default here); --threads with --change-hyper-parameters changes that",
                      threads, plan_.options.threads));
    }
    plan_.use_threads(threads);
  }

  std::uint64_t points() const { return steps_ / log_steps_ + steps_ / eval_steps_ + 2; }
  double epoch_at(std::uint64_t step) const {
    return static_cast<double>(step) / static_cast<double>(plan_.steps_per_epoch);
  }

  // The evaluation comes before the snapshot: what is known of a step belongs to its state.
  Result<bool> one_step(std::uint64_t step) {
    OUTLAST_TRY_ASSIGN(const StepReport report, learner_.step(step));
    if (!std::isfinite(report.loss)) return lost_its_way(step + 1, report.loss);
    state_.sums().add(report);
    const std::uint64_t done = step + 1;
    if (done % log_steps_ == 0 || done == steps_) log(done);
    if (done % eval_steps_ == 0 || done == steps_) OUTLAST_TRY(evaluate_at(done));
    progress_.step(done, report);
    OUTLAST_TRY_ASSIGN(const bool goes_on, state_.step_done(done, steps_));
    OUTLAST_TRY(folder_.publish_sometimes());
    if (goes_on && leave_.is_made() && done < steps_) {
      OUTLAST_TRY(state_.save(done));
      return false;
    }
    return goes_on;
  }

  Error lost_its_way(std::uint64_t step, double loss) const {
    return {ErrorCode::kFailed,
            fmt::format("the loss of step {} is {}, so that training stops. What was saved before "
                        "is as it was; a smaller --learning-rate may help",
                        step, std::isnan(loss) ? "no number" : "infinite")};
  }

  void log(std::uint64_t step) {
    RunningSums& sums = state_.sums();
    if (sums.examples == 0) return;
    const auto examples = static_cast<double>(sums.examples);
    const Moment moment{
        .step = step - 1, .steps = steps_, .steps_per_epoch = plan_.steps_per_epoch};
    const MetricsPoint point{.step = step,
                             .epoch = epoch_at(step),
                             .loss = sums.loss / examples,
                             .accuracy = static_cast<double>(sums.correct) / examples,
                             .learning_rate = plan_.options.learning_rate *
                                              schedule_factor(plan_.options.schedule, moment)};
    state_.metrics().add(point);
    state_.snapshots().metrics({{"loss", *point.loss}, {"accuracy", *point.accuracy}});
    sums = {};
  }

  Result<void> evaluate_at(std::uint64_t step) {
    progress_.pause("evaluating");
    OUTLAST_TRY_ASSIGN(const Evaluation evaluation, learner_.evaluate());
    last_ = evaluation;
    state_.metrics().add({.step = step,
                          .epoch = epoch_at(step),
                          .test_loss = evaluation.loss,
                          .test_accuracy = evaluation.accuracy()});
    state_.snapshots().metrics(
        {{"test_loss", evaluation.loss}, {"test_accuracy", evaluation.accuracy()}});
    progress_.evaluated(step, evaluation);
    if (step % plan_.steps_per_epoch == 0 && plan_.epoch_done) {
      OUTLAST_TRY(plan_.epoch_done(
          folder_,
          {.epoch = step / plan_.steps_per_epoch, .step = step, .evaluation = evaluation}));
    }
    return write_metrics();
  }

  Result<void> write_metrics() {
    OUTLAST_TRY(folder_.write(folder_.metrics_path(), state_.metrics().text()));
    const std::string title = fmt::format("{}: {}", plan_.options.task, plan_.data_from);
    return folder_.write(folder_.plot_path(), plot_svg(state_.metrics(), {.title = title}));
  }

  Result<cli::ExitCode> left(std::uint64_t step) {
    progress_.end();
    OUTLAST_TRY(write_metrics());
    OUTLAST_TRY(folder_.publish());
    context_.terminal.note(fmt::format("left after step {} of {}, which is saved", step, steps_));
    return static_cast<cli::ExitCode>(state_.snapshots().leave_code());
  }

  Result<cli::ExitCode> finish() {
    progress_.end();
    const Weights weights = learner_.weights();
    OUTLAST_TRY(write_safetensors(context_.world.files, folder_.model_path(), weights,
                                  {{"task", plan_.options.task}}));
    OUTLAST_TRY(write_metrics());
    OUTLAST_TRY(folder_.publish());
    const std::string model = folder_.shown(folder_.model_path());
    if (!last_) {
      OUTLAST_TRY_ASSIGN(last_, learner_.evaluate());
    }
    const cli::Terminal& terminal = context_.terminal;
    if (terminal.json()) {
      terminal.print_json(Json{{"steps", steps_},
                               {"test_accuracy", last_->accuracy()},
                               {"test_loss", last_->loss},
                               {"model", model},
                               {"result", digest(weights)}});
    } else {
      terminal.print(fmt::format("test accuracy {:.4f}, test loss {:.4f}\nmodel {}\nresult {}\n",
                                 last_->accuracy(), last_->loss, model, digest(weights)));
    }
    OUTLAST_TRY(state_.done());
    return cli::ExitCode::kOk;
  }

  Learner& learner_;
  const TrainPlan& plan_;
  cli::Context& context_;
  JobFolder folder_;
  const std::uint64_t steps_;
  const std::uint64_t log_steps_;
  const std::uint64_t eval_steps_;
  TrainingState state_;
  TrainProgress progress_;
  LeaveRequest leave_;
  std::optional<Evaluation> last_;
};

Result<void> load_weights(Learner& learner, const std::string& path, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(const std::string file, find_data({.place = path}, context));
  OUTLAST_TRY_ASSIGN(const Weights weights, read_weights(context.world.files, file));
  return learner.load(weights).while_doing("load " + path);
}

// The weights that were asked for, or those in the job folder.
Result<std::string> find_model(Learner& learner, const TrainPlan& plan, cli::Context& context) {
  if (!plan.options.weights.empty()) {
    OUTLAST_TRY(load_weights(learner, plan.options.weights, context));
    return plan.options.weights;
  }
  const std::string& job_dir = plan.options.job_dir;
  if (job_dir.find("://") == std::string::npos && !context.world.files.stat(job_dir)) {
    return Error(
        ErrorCode::kNotFound,
        fmt::format("there is no {}: train first, or name a file with --weights", job_dir));
  }
  OUTLAST_TRY_ASSIGN(const JobFolder folder, JobFolder::open(job_dir, context.world));
  if (context.world.files.stat(folder.model_path())) {
    OUTLAST_TRY(load_weights(learner, folder.model_path(), context));
    return folder.shown(folder.model_path());
  }
  TrainingState state({.learner = learner,
                       .hyper_parameters = plan.hyper_parameters,
                       .snapshots = {.folder = folder.checkpoints_path()},
                       .points_max = kPointsMax});
  OUTLAST_TRY_ASSIGN(const std::optional<std::uint64_t> step, state.resume(true));
  if (!step) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is neither a model nor a checkpoint in {}: train first, or "
                             "name a file with --weights",
                             job_dir));
  }
  return fmt::format("step {} of {}", *step, folder.shown(folder.checkpoints_path()));
}

}  // namespace

Result<cli::ExitCode> train(Learner& learner, const TrainPlan& plan, cli::Context& context) {
  const TrainOptions& options = plan.options;
  if (options.eval_steps > 0 &&
      options.total_steps(plan.steps_per_epoch) / options.eval_steps > kPointsMax) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--eval-steps {} would evaluate {} times; {} is the most", options.eval_steps,
                    options.total_steps(plan.steps_per_epoch) / options.eval_steps, kPointsMax));
  }
  OUTLAST_TRY_ASSIGN(JobFolder folder, JobFolder::open(options.job_dir, context.world));
  context.terminal.note(fmt::format("training on {}", plan.data_from));
  if (!options.weights.empty()) OUTLAST_TRY(load_weights(learner, options.weights, context));
  return Training(learner, plan, context, std::move(folder)).run();
}

Result<cli::ExitCode> evaluate(Learner& learner, const TrainPlan& plan, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(const std::string model, find_model(learner, plan, context));
  OUTLAST_TRY_ASSIGN(const Evaluation evaluation, learner.evaluate());
  if (context.terminal.json()) {
    context.terminal.print_json(Json{{"model", model},
                                     {"test_accuracy", evaluation.accuracy()},
                                     {"test_loss", evaluation.loss},
                                     {"examples", evaluation.examples}});
  } else {
    context.terminal.print(fmt::format("test accuracy {:.4f}, test loss {:.4f} ({} {})\n",
                                       evaluation.accuracy(), evaluation.loss, evaluation.examples,
                                       plan.examples_name));
  }
  return cli::ExitCode::kOk;
}

Result<cli::ExitCode> predict(Learner& learner, const TrainPlan& plan, cli::Context& context) {
  OUTLAST_TRY(find_model(learner, plan, context));
  OUTLAST_TRY(learner.predict([&context](const Prediction& prediction) -> Result<void> {
    if (context.terminal.json()) {
      Json line = {{"example", prediction.example},
                   {"label", prediction.label},
                   {"probability", prediction.probability}};
      if (!prediction.truth.empty()) line["truth"] = prediction.truth;
      context.terminal.print(canonical_json(line) + "\n");
    } else {
      context.terminal.print(fmt::format("{}\t{}\t{:.4f}{}\n", prediction.example, prediction.label,
                                         prediction.probability,
                                         prediction.truth.empty() ? "" : "\t" + prediction.truth));
    }
    return context.world.console.out_status();
  }));
  return cli::ExitCode::kOk;
}

Result<cli::ExitCode> run_task(Learner& learner, const TrainPlan& plan, cli::Context& context) {
  const auto run = [&]() -> Result<cli::ExitCode> {
    switch (plan.options.mode) {
      case Mode::kTrain:
        return train(learner, plan, context);
      case Mode::kEvaluate:
        return evaluate(learner, plan, context);
      case Mode::kPredict:
        return predict(learner, plan, context);
    }
    return cli::ExitCode::kFailed;
  };
  Result<cli::ExitCode> code = run();
  for (const std::string& note : learner.notes()) context.terminal.note(note);
  return code;
}

}  // namespace outlast::trainers
