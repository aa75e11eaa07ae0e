#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "trainers/census/search_space.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

// The command line of the census task. A value.
struct CensusOptions {
  std::string job_dir = {};
  std::string data = {};
  Mode mode = Mode::kTrain;
  std::uint64_t seed = 0;
  unsigned threads = 1;
  bool download = false;
  std::uint64_t checkpoint_steps = 0;
  std::uint64_t eval_steps = 10;
  std::string model_path = {};             // where the model goes to, or is
  std::optional<std::size_t> search = {};  // how many configurations; none: the one below
  std::size_t folds = 5;
  Configuration configuration = {};
};

std::vector<cli::OptionSpec> census_option_specs();

// kInvalidArgument, naming the option, if it cannot be. `threads_free` is what --threads is by
// default.
Result<CensusOptions> read_census_options(const cli::Invocation& invocation, unsigned threads_free);

// What decides about the result.
HyperParameters hyper_parameters(const CensusOptions& options);

}  // namespace outlast::trainers
