#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "trainers/schedule.h"

namespace outlast::trainers {

enum class Mode { kTrain, kEvaluate, kPredict };
enum class Optimizer { kSgd, kAdam, kAdamW };
std::string to_string(Optimizer optimizer);

// What a task takes where nothing was said. Texts, as they stand in --help.
struct TaskDefaults {
  std::string task = {};  // "cifar10"
  std::string epochs = {};
  std::string batch_size = {};
  std::string learning_rate = {};
  std::string optimizer = "sgd";
  std::vector<std::string> optimizers = {"sgd", "adam", "adamw"};  // that it can use
  std::string momentum = "0.9";
  std::string weight_decay = "0";
  std::string schedule = "constant";
  std::string data_help = {};   // what --data may be
  bool reads_pictures = false;  // from files, which may be damaged: has --strict
};

// The command line that all tasks share. A value.
struct TrainOptions {
  std::string task = {};
  std::string job_dir = {};
  std::string data = {};
  Mode mode = Mode::kTrain;
  std::optional<std::uint64_t> train_steps = {};  // instead of epochs
  std::uint64_t epochs = 0;
  std::uint64_t checkpoint_steps = 0;  // 0: every five minutes
  std::uint64_t eval_steps = 0;        // 0: after every epoch
  std::uint64_t batch_size = 0;
  double learning_rate = 0;
  Optimizer optimizer = Optimizer::kSgd;
  double momentum = 0;
  double weight_decay = 0;
  Schedule schedule = {};
  std::uint64_t seed = 0;
  unsigned threads = 0;        // at least 1
  bool threads_given = false;  // by --threads, and not what is free
  std::string weights = {};    // a file to begin with, or to evaluate; empty: none
  bool change_hyper_parameters = false;
  bool download = false;
  bool strict = false;

  // How many steps there are in all, if an epoch has so many.
  std::uint64_t total_steps(std::uint64_t steps_per_epoch) const {
    return train_steps ? *train_steps : epochs * steps_per_epoch;
  }
};

// The options that every task has, with its defaults.
std::vector<cli::OptionSpec> train_option_specs(const TaskDefaults& defaults);

// What was given, or the task's defaults. kInvalidArgument, naming the option, if it cannot be.
// `threads_free` is what --threads is by default.
Result<TrainOptions> read_train_options(const cli::Invocation& invocation,
                                        const TaskDefaults& defaults, unsigned threads_free);

// What decides about the result, by name: what a resumed training must agree in.
using HyperParameters = std::map<std::string, std::string>;
// Of the options above; a task adds its own.
HyperParameters hyper_parameters(const TrainOptions& options);

// Where two of them differ: "--batch-size was 4 and is 8 now", for people; empty if they are equal.
std::string difference(const HyperParameters& saved, const HyperParameters& given);

}  // namespace outlast::trainers
