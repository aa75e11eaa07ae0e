#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "trainers/job_folder.h"
#include "trainers/learner.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

struct EpochReport {
  std::uint64_t epoch = 0;  // counted from 1: that many are done
  std::uint64_t step = 0;
  Evaluation evaluation = {};
};

struct TrainPlan {
  TrainOptions options = {};
  HyperParameters hyper_parameters = {};
  std::uint64_t steps_per_epoch = 1;
  std::string examples_name = "images";  // for the rate: "images/s"
  std::string data_from = {};  // said once at the beginning: a path, or that it is made up
  // If given, the bits depend on how many threads compute, and this sets their number: a training
  // that goes on uses as many as it began with, unless --threads says otherwise.
  std::function<void(unsigned)> use_threads = {};
  // If given: called when training begins, with the step that it goes on from (0: none), and after
  // every whole epoch, when it was evaluated. For files of the task's own in the job folder.
  std::function<Result<void>(JobFolder&, std::uint64_t)> begins = {};
  std::function<Result<void>(JobFolder&, const EpochReport&)> epoch_done = {};
};

// Trains from wherever the newest snapshot is to the last step; under `outlast run` by its
// snapshots, otherwise by files in the job folder. Writes there metrics.jsonl, plot.svg and, at the
// end, model.safetensors. kLeft when it was asked to leave (by outlast, or SIGTERM or SIGINT) and
// has saved. kInvalidArgument if what was saved had other hyper-parameters, with both values.
// kFailed, naming the step, if the loss is no number any more: what was saved before stays.
Result<cli::ExitCode> train(Learner& learner, const TrainPlan& plan, cli::Context& context);

// Evaluates, or lets predict, the model that options.weights names, or the one in the job folder:
// the finished model, or else the newest snapshot. kNotFound if there is none.
Result<cli::ExitCode> evaluate(Learner& learner, const TrainPlan& plan, cli::Context& context);
Result<cli::ExitCode> predict(Learner& learner, const TrainPlan& plan, cli::Context& context);

// train(), evaluate() or predict(), as plan.options.mode says; then the learner's notes, however it
// ended.
Result<cli::ExitCode> run_task(Learner& learner, const TrainPlan& plan, cli::Context& context);

}  // namespace outlast::trainers
