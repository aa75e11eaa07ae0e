#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "trainers/census/boosting.h"
#include "trainers/census/census_model.h"
#include "trainers/census/search_space.h"
#include "trainers/job_folder.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

struct FitJob {
  const CensusLesson& lesson;
  const CensusExam& exam;
  std::string_view data_from = {};  // for the title of the plot
  Configuration configuration = {};
  JobFolder& folder;
  HyperParameters hyper_parameters = {};
  std::uint64_t checkpoint_steps = 0;  // 0: every five minutes, or as outlast wants
  std::uint64_t eval_steps = 10;       // from 1
  // Called with the whole model, before the job counts as done.
  std::function<Result<void>(Booster&)> finish = {};
};

// Learns one configuration; a step is a round of boosting. Goes on from the newest snapshot, with
// the same bits as if it had never been interrupted. The code to leave with, if it was asked to, by
// outlast, SIGTERM or SIGINT, and has saved. After every eval_steps rounds, and the last, it writes
// how well it does to metrics.jsonl and plot.svg.
Result<cli::ExitCode> fit(const FitJob& job, cli::Context& context);

}  // namespace outlast::trainers
