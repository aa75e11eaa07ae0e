#include "trainers/train_options.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
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
#include "trainers/schedule.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kCountMax = 1'000'000'000'000;

Error wrong_option(std::string_view option, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("--{} {}", option, what)};
}

// The option's value, or its default.
std::string text_of(const cli::Invocation& invocation, std::string_view name) {
  if (const auto given = invocation.value(name)) return *given;
  const cli::OptionSpec* spec = cli::find_option(invocation.command, name);
  return spec == nullptr ? "" : spec->default_value;
}

struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = kCountMax;
};

Result<std::uint64_t> count_of(const cli::Invocation& invocation, std::string_view name,
                               const Range& range) {
  const std::string text = text_of(invocation, name);
  const auto number = parse_number<std::uint64_t>(text);
  if (!number || *number < range.least || *number > range.most) {
    return wrong_option(
        name, fmt::format("must be from {} to {}, not {}", range.least, range.most, text));
  }
  return *number;
}

Result<double> amount_of(const cli::Invocation& invocation, std::string_view name, double least) {
  const std::string text = text_of(invocation, name);
  const std::optional<double> number = parse_decimal(text);
  if (!number || *number < least) {
    return wrong_option(name, fmt::format("must be a number from {}, not {}", least, text));
  }
  return *number;
}

}  // namespace

std::string to_string(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
      return "sgd";
    case Optimizer::kAdam:
      return "adam";
    case Optimizer::kAdamW:
      return "adamw";
  }
  return "";
}

std::vector<cli::OptionSpec> train_option_specs(const TaskDefaults& defaults) {
  std::vector<cli::OptionSpec> options = {
      {.name = "job-dir",
       .value_name = "FOLDER",
       .help = "Where checkpoints, metrics and the model go, and what a resume looks for; a folder "
               "or an object-store URL",
       .default_value = "outlast-" + defaults.task,
       .completes = cli::Completes::kFiles},
      {.name = "data",
       .value_name = "PLACE",
       .help = defaults.data_help,
       .default_value = "synthetic",
       .completes = cli::Completes::kFiles},
      {.name = "mode",
       .value_name = "MODE",
       .help = "What to do: train, evaluate, predict",
       .words = {"train", "evaluate", "predict"},
       .default_value = "train"},
      {.name = "epochs",
       .value_name = "N",
       .help = "How often to go through the data",
       .default_value = defaults.epochs,
       .number = true},
      {.name = "train-steps",
       .value_name = "N",
       .help = "How many batches to train on, instead of --epochs",
       .number = true},
      {.name = "batch-size",
       .value_name = "N",
       .help = "Examples in a batch",
       .default_value = defaults.batch_size,
       .number = true},
      {.name = "learning-rate",
       .value_name = "RATE",
       .help = "How far a step goes",
       .default_value = defaults.learning_rate,
       .decimal = true},
      {.name = "optimizer",
       .value_name = "NAME",
       .help = fmt::format("One of {}", fmt::join(defaults.optimizers, ", ")),
       .words = defaults.optimizers,
       .default_value = defaults.optimizer},
      {.name = "momentum",
       .value_name = "M",
       .help = "How much of the last step sgd keeps",
       .default_value = defaults.momentum,
       .decimal = true},
      {.name = "weight-decay",
       .value_name = "W",
       .help = "How fast weights shrink",
       .default_value = defaults.weight_decay,
       .decimal = true},
      {.name = "schedule",
       .value_name = "HOW",
       .help = "How the learning rate changes: constant, cosine, linear or step:EPOCHS:FACTOR, "
               "each with +warmup:STEPS if wanted",
       .default_value = defaults.schedule},
      {.name = "checkpoint-steps",
       .value_name = "N",
       .help = "Save after every N steps; 0: every five minutes, or as outlast wants",
       .default_value = "0",
       .number = true},
      {.name = "eval-steps",
       .value_name = "N",
       .help = "Evaluate after every N steps; 0: after every epoch",
       .default_value = "0",
       .number = true},
      {.name = "seed",
       .value_name = "N",
       .help = "Everything random follows from it",
       .default_value = "1",
       .number = true},
      {.name = "threads",
       .value_name = "N",
       .help = "Threads that compute; as many as are free unless given",
       .number = true},
      {.name = "weights",
       .value_name = "FILE",
       .help = "Begin with, or evaluate, these weights: .safetensors or .pth",
       .completes = cli::Completes::kFiles},
      {.name = "change-hyper-parameters",
       .help = "Go on from a checkpoint that was trained with others"},
      {.name = "download", .help = "Fetch the data into --data first, if it is not there"},
  };
  if (defaults.reads_pictures) {
    options.push_back(
        {.name = "strict", .help = "Refuse damaged pictures instead of leaving them out"});
  }
  return options;
}

Result<TrainOptions> read_train_options(const cli::Invocation& invocation,
                                        const TaskDefaults& defaults, unsigned threads_free) {
  TrainOptions options;
  options.task = defaults.task;
  options.job_dir = text_of(invocation, "job-dir");
  options.data = text_of(invocation, "data");
  if (options.job_dir.empty()) return wrong_option("job-dir", "is empty");
  if (options.data.empty()) return wrong_option("data", "is empty");
  const std::string mode = text_of(invocation, "mode");
  options.mode = mode == "evaluate"  ? Mode::kEvaluate
                 : mode == "predict" ? Mode::kPredict
                                     : Mode::kTrain;
  if (invocation.value("train-steps")) {
    if (invocation.value("epochs")) {
      return wrong_option("train-steps", "and --epochs exclude each other");
    }
    OUTLAST_TRY_ASSIGN(options.train_steps, count_of(invocation, "train-steps", {.least = 1}));
  }
  OUTLAST_TRY_ASSIGN(options.epochs,
                     count_of(invocation, "epochs", {.least = 1, .most = 1'000'000}));
  OUTLAST_TRY_ASSIGN(options.checkpoint_steps, count_of(invocation, "checkpoint-steps", {}));
  OUTLAST_TRY_ASSIGN(options.eval_steps, count_of(invocation, "eval-steps", {}));
  OUTLAST_TRY_ASSIGN(options.batch_size,
                     count_of(invocation, "batch-size", {.least = 1, .most = 1U << 20U}));
  OUTLAST_TRY_ASSIGN(options.learning_rate, amount_of(invocation, "learning-rate", 0));
  const std::string optimizer = text_of(invocation, "optimizer");
  options.optimizer = optimizer == "adam"    ? Optimizer::kAdam
                      : optimizer == "adamw" ? Optimizer::kAdamW
                                             : Optimizer::kSgd;
  OUTLAST_TRY_ASSIGN(options.momentum, amount_of(invocation, "momentum", 0));
  if (options.momentum >= 1) return wrong_option("momentum", "must be below 1");
  OUTLAST_TRY_ASSIGN(options.weight_decay, amount_of(invocation, "weight-decay", 0));
  OUTLAST_TRY_ASSIGN(options.schedule, parse_schedule(text_of(invocation, "schedule")));
  OUTLAST_TRY_ASSIGN(options.seed, count_of(invocation, "seed", {.most = ~std::uint64_t{0}}));
  options.threads = std::max(threads_free, 1U);
  if (invocation.value("threads")) {
    OUTLAST_TRY_ASSIGN(const std::uint64_t threads,
                       count_of(invocation, "threads", {.least = 1, .most = 1024}));
    options.threads = static_cast<unsigned>(threads);
    options.threads_given = true;
  }
  options.weights = text_of(invocation, "weights");
  options.change_hyper_parameters = invocation.flag("change-hyper-parameters");
  options.download = invocation.flag("download");
  options.strict = defaults.reads_pictures && invocation.flag("strict");
  return options;
}

HyperParameters hyper_parameters(const TrainOptions& options) {
  HyperParameters values = {{"task", options.task},
                            {"data", options.data},
                            {"batch-size", std::to_string(options.batch_size)},
                            {"learning-rate", fmt::format("{}", options.learning_rate)},
                            {"optimizer", to_string(options.optimizer)},
                            {"weight-decay", fmt::format("{}", options.weight_decay)},
                            {"schedule", to_string(options.schedule)},
                            {"seed", std::to_string(options.seed)},
                            {"weights", options.weights}};
  if (options.optimizer == Optimizer::kSgd) {
    values["momentum"] = fmt::format("{}", options.momentum);
  }
  // Only a schedule that falls to the end cares where the end is; others may be trained for longer.
  if (options.schedule.kind == Schedule::Kind::kCosine ||
      options.schedule.kind == Schedule::Kind::kLinear) {
    values[options.train_steps ? "train-steps" : "epochs"] =
        std::to_string(options.train_steps ? *options.train_steps : options.epochs);
  }
  return values;
}

std::string difference(const HyperParameters& saved, const HyperParameters& given) {
  const auto shown = [](const HyperParameters& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() || found->second.empty() ? "not given" : found->second;
  };
  std::vector<std::string> differences;
  HyperParameters all = saved;
  all.insert(given.begin(), given.end());
  for (const auto& [name, value] : all) {
    const std::string before = shown(saved, name);
    const std::string now = shown(given, name);
    if (before != now) {
      differences.push_back(fmt::format("--{} was {} and is {} now", name, before, now));
    }
  }
  return fmt::format("{}", fmt::join(differences, ", "));
}

}  // namespace outlast::trainers
