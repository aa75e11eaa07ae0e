#include "trainers/torch/bert_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/exit_code.h"
#include "trainers/free_processors.h"
#include "trainers/task_commands.h"
#include "trainers/torch/bert_learner.h"
#include "trainers/torch/bert_shape.h"
#include "trainers/torch/bert_texts.h"
#include "trainers/torch/torch_call.h"
#include "trainers/torch/torch_run.h"
#include "trainers/train_loop.h"
#include "trainers/train_options.h"

namespace outlast::trainers {
namespace {

constexpr std::uint64_t kLengthMin = 8;
constexpr std::uint64_t kLengthMax = 512;  // the positions that a BERT has

std::string given_or_default(const cli::Invocation& invocation, std::string_view name) {
  if (const auto given = invocation.value(name)) return *given;
  const cli::OptionSpec* spec = cli::find_option(invocation.command, name);
  return spec == nullptr ? "" : spec->default_value;
}

Result<std::size_t> length_of(const cli::Invocation& invocation) {
  const std::uint64_t length = invocation.number("max-length").value_or(kLengthMax);
  if (length < kLengthMin || length > kLengthMax) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("--max-length must be from {} to {}", kLengthMin, kLengthMax));
  }
  return static_cast<std::size_t>(length);
}

}  // namespace

Result<cli::ExitCode> run_bert(const cli::Invocation& invocation, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(
      const TrainOptions options,
      read_train_options(invocation, bert_defaults(), free_processors(context.world)));
  const std::string size =
      invocation.value("size").value_or(options.data == "synthetic" ? "tiny" : "base");
  OUTLAST_TRY_ASSIGN(BertShape shape, bert_shape(size));
  OUTLAST_TRY_ASSIGN(const std::size_t length, length_of(invocation));
  const std::string input = given_or_default(invocation, "input");
  if (!input.empty() && options.mode != Mode::kPredict) {
    return Error(ErrorCode::kInvalidArgument, "--input is for --mode predict");
  }
  if (options.download) {
    return Error(ErrorCode::kInvalidArgument,
                 "--download knows no texts with classes: put train.csv and test.csv into the "
                 "folder that --data names");
  }
  const std::string vocabulary = given_or_default(invocation, "vocab");
  use_threads(options.threads);
  OUTLAST_TRY_ASSIGN(BertTexts texts, read_bert_texts(context.world, {.data = options.data,
                                                                      .vocabulary = vocabulary,
                                                                      .input = input,
                                                                      .length_max = length,
                                                                      .seed = options.seed,
                                                                      .mode = options.mode,
                                                                      .threads = options.threads}));
  shape.classes = static_cast<std::int64_t>(texts.classes);
  shape.vocabulary = static_cast<std::int64_t>(texts.vocabulary);

  TrainPlan plan{.options = options,
                 .hyper_parameters = hyper_parameters(options),
                 .examples_name = "texts",
                 .data_from = texts.from,
                 .use_threads = use_threads};
  plan.hyper_parameters["size"] = size;
  plan.hyper_parameters["max-length"] = std::to_string(length);
  plan.hyper_parameters["vocab"] = vocabulary;
  const std::uint64_t rows = texts.sets.train.size();
  plan.steps_per_epoch =
      std::max<std::uint64_t>((rows + options.batch_size - 1) / options.batch_size, 1);
  return torch_call("make the model", [&]() -> Result<cli::ExitCode> {
    BertLearner learner({.shape = shape,
                         .seed = options.seed,
                         .batch_size = options.batch_size,
                         .learning_rate = options.learning_rate,
                         .weight_decay = options.weight_decay,
                         .schedule = options.schedule,
                         .steps = options.total_steps(plan.steps_per_epoch),
                         .may_lack_head = options.mode == Mode::kTrain,
                         .labels = std::move(texts.labels)},
                        std::move(texts.sets));
    return run_task(learner, plan, context);
  });
}

}  // namespace outlast::trainers
