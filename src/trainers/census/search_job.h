#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "trainers/census/cross_validation.h"
#include "trainers/census/search_results.h"
#include "trainers/job_folder.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

struct SearchJob {
  const CrossValidation& validation;
  JobFolder& folder;
  HyperParameters hyper_parameters = {};
  std::string_view data_from = {};  // for the title of the plot
  unsigned threads = 1;             // that judge; this one, which waits, is not among them
  // Called when all are judged. Only then the job is done, and outlast is told so: whoever is
  // killed in here comes back to it.
  std::function<Result<void>()> finish = {};
};

// Judges all configurations of `results` that are not judged yet, some at a time, and saves after
// each that is. A search that was interrupted goes on where it was saved, under `outlast run` or by
// the files in the job folder; results depend neither on that nor on the number of threads. The
// code to leave with, if it was asked to, by outlast, SIGTERM or SIGINT: what was judged is saved,
// and what was being judged is given up at once. Writes metrics.jsonl and
// plot.svg.
Result<cli::ExitCode> search(SearchResults& results, const SearchJob& job, cli::Context& context);

}  // namespace outlast::trainers
