#include "trainers/census/census_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "sys/file_ops.h"
#include "trainers/census/search_space.h"
#include "trainers/train_options.h"

namespace outlast::trainers {
namespace {

constexpr std::string_view kShared[] = {
    "job-dir", "data", "mode", "seed", "threads", "download", "checkpoint-steps"};

Error wrong_census_option(std::string_view option, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("--{} {}", option, what)};
}

std::string given_or_default(const cli::Invocation& invocation, std::string_view name) {
  if (const auto given = invocation.value(name)) return *given;
  const cli::OptionSpec* spec = cli::find_option(invocation.command, name);
  return spec == nullptr ? "" : spec->default_value;
}

struct CensusRange {
  std::uint64_t least = 0;
  std::uint64_t most = ~std::uint64_t{0};
};

Result<std::uint64_t> number_in(const cli::Invocation& invocation, std::string_view name,
                                const CensusRange& range) {
  const std::string text = given_or_default(invocation, name);
  const auto number = parse_number<std::uint64_t>(text);
  if (!number || *number < range.least || *number > range.most) {
    return wrong_census_option(
        name, fmt::format("must be from {} to {}, not {}", range.least, range.most, text));
  }
  return *number;
}

// Two names of one option: both may be given only if they agree.
Result<std::optional<std::string>> either(const cli::Invocation& invocation, std::string_view name,
                                          std::string_view other) {
  const std::optional<std::string> first = invocation.value(name);
  const std::optional<std::string> second = invocation.value(other);
  if (first && second && *first != *second) {
    return wrong_census_option(name, fmt::format("{} and --{} {} contradict each other: they are "
                                                 "two names of one option",
                                                 *first, other, *second));
  }
  return first ? first : second;
}

Result<Configuration> read_configuration(const cli::Invocation& invocation) {
  Configuration one;
  const std::string rate = given_or_default(invocation, "learning-rate");
  const std::optional<double> number = parse_decimal(rate);
  const double percent = number.value_or(0) * 100;
  if (!number || percent < 1 || percent > 100 || std::abs(percent - std::round(percent)) > 1e-9) {
    return wrong_census_option(
        "learning-rate", fmt::format("must be from 0.01 to 1 in steps of 0.01, not {}", rate));
  }
  one.learning_rate_percent = static_cast<unsigned>(std::lround(percent));
  OUTLAST_TRY_ASSIGN(const std::uint64_t depth,
                     number_in(invocation, "depth", {.least = 1, .most = 12}));
  OUTLAST_TRY_ASSIGN(const std::uint64_t min_leaf,
                     number_in(invocation, "min-leaf", {.least = 1, .most = 1'000'000}));
  OUTLAST_TRY_ASSIGN(const std::uint64_t trees,
                     number_in(invocation, "trees", {.least = 1, .most = 10'000}));
  one.depth = static_cast<unsigned>(depth);
  one.min_leaf = static_cast<unsigned>(min_leaf);
  one.trees = static_cast<unsigned>(trees);
  return one;
}

// A search draws these itself.
Result<void> check_search(const cli::Invocation& invocation) {
  for (const std::string_view name : {"learning-rate", "depth", "min-leaf", "trees"}) {
    if (invocation.value(name)) {
      return wrong_census_option(name,
                                 "has no effect on --search, which tries many: leave one out");
    }
  }
  return {};
}

}  // namespace

std::vector<cli::OptionSpec> census_option_specs() {
  std::vector<cli::OptionSpec> specs;
  for (cli::OptionSpec& shared : train_option_specs(
           {.task = "census",
            .data_help = "The folder of adult.data and adult.test, or its URL in an object store; "
                         "'synthetic' makes people up"})) {
    if (std::find(std::begin(kShared), std::end(kShared), shared.name) != std::end(kShared)) {
      specs.push_back(shared);
    }
  }
  const std::vector<cli::OptionSpec> own = {
      {.name = "census-data-path",
       .value_name = "PLACE",
       .help = "Another name of --data",
       .completes = cli::Completes::kFiles},
      {.name = "search",
       .value_name = "N",
       .help = "Try N random configurations by cross-validation, and train the best; without it, "
               "the one of the options below is trained",
       .number = true},
      {.name = "cv-iterations",
       .value_name = "N",
       .help = "Another name of --search",
       .number = true},
      {.name = "folds",
       .value_name = "N",
       .help = "Of the cross-validation",
       .default_value = "5",
       .number = true},
      {.name = "model-output-path",
       .value_name = "FILE",
       .help = "Where the model goes, and is taken from to evaluate or predict: XGBoost's JSON, or "
               "its binary form if it ends in .ubj; model.json in --job-dir unless given",
       .completes = cli::Completes::kFiles},
      {.name = "learning-rate",
       .value_name = "RATE",
       .help = "How much of each tree counts",
       .default_value = "0.1",
       .decimal = true},
      {.name = "depth",
       .value_name = "N",
       .help = "Of a tree",
       .default_value = "5",
       .number = true},
      {.name = "min-leaf",
       .value_name = "N",
       .help = "The least weight of a leaf",
       .default_value = "1",
       .number = true},
      {.name = "trees",
       .value_name = "N",
       .help = "How many",
       .default_value = "150",
       .number = true},
      {.name = "eval-steps",
       .value_name = "N",
       .help = "Evaluate after every N trees of a training without a search",
       .default_value = "10",
       .number = true},
  };
  specs.insert(specs.end(), own.begin(), own.end());
  return specs;
}

Result<CensusOptions> read_census_options(const cli::Invocation& invocation,
                                          unsigned threads_free) {
  CensusOptions options;
  options.job_dir = given_or_default(invocation, "job-dir");
  if (options.job_dir.empty()) return wrong_census_option("job-dir", "is empty");
  OUTLAST_TRY_ASSIGN(const std::optional<std::string> data,
                     either(invocation, "data", "census-data-path"));
  options.data = data.value_or(given_or_default(invocation, "data"));
  if (options.data.empty()) return wrong_census_option("data", "is empty");
  const std::string mode = given_or_default(invocation, "mode");
  options.mode = mode == "evaluate"  ? Mode::kEvaluate
                 : mode == "predict" ? Mode::kPredict
                                     : Mode::kTrain;
  OUTLAST_TRY_ASSIGN(options.seed, number_in(invocation, "seed", {}));
  options.threads = std::max(threads_free, 1U);
  if (invocation.value("threads")) {
    OUTLAST_TRY_ASSIGN(const std::uint64_t threads,
                       number_in(invocation, "threads", {.least = 1, .most = 1024}));
    options.threads = static_cast<unsigned>(threads);
  }
  options.download = invocation.flag("download");
  OUTLAST_TRY_ASSIGN(options.checkpoint_steps, number_in(invocation, "checkpoint-steps", {}));
  OUTLAST_TRY_ASSIGN(options.eval_steps,
                     number_in(invocation, "eval-steps", {.least = 1, .most = 10'000}));
  options.model_path =
      invocation.value("model-output-path").value_or(sys::join_path(options.job_dir, "model.json"));
  if (options.model_path.empty()) return wrong_census_option("model-output-path", "is empty");
  OUTLAST_TRY_ASSIGN(const std::uint64_t folds,
                     number_in(invocation, "folds", {.least = 2, .most = 100}));
  options.folds = static_cast<std::size_t>(folds);
  OUTLAST_TRY_ASSIGN(const std::optional<std::string> search,
                     either(invocation, "search", "cv-iterations"));
  if (search) {
    OUTLAST_TRY_ASSIGN(
        const std::uint64_t count,
        number_in(invocation, invocation.value("search") ? "search" : "cv-iterations",
                  {.least = 1, .most = 100'000}));
    options.search = static_cast<std::size_t>(count);
    OUTLAST_TRY(check_search(invocation));
  }
  OUTLAST_TRY_ASSIGN(options.configuration, read_configuration(invocation));
  return options;
}

HyperParameters hyper_parameters(const CensusOptions& options) {
  HyperParameters values = {{"task", "census"}, {"data", options.data}};
  if (options.search) {
    values["search"] = std::to_string(*options.search);
    values["folds"] = std::to_string(options.folds);
    values["seed"] = std::to_string(options.seed);
  } else {
    const Configuration& one = options.configuration;
    values["learning-rate"] = fmt::format("{}", one.boosting().learning_rate);
    values["depth"] = std::to_string(one.depth);
    values["min-leaf"] = std::to_string(one.min_leaf);
    values["trees"] = std::to_string(one.trees);
  }
  return values;
}

}  // namespace outlast::trainers
