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

TaskDefaults bert_defaults() {
  return {.task = "bert",
          .epochs = "3",
          .batch_size = "8",
          .learning_rate = "5e-5",
          .optimizer = "adamw",
          .optimizers = {"adamw"},
          .weight_decay = "0.01",
          .schedule = "linear+warmup:100",
          .data_help =
              "A folder with train.csv and test.csv: text and label, or label, title and "
              "description; or synthetic"};
}

std::vector<cli::OptionSpec> bert_options() {
  std::vector<cli::OptionSpec> options = {
      {.name = "size",
       .value_name = "SIZE",
       .help = "How large the model is: tiny, mini, small, medium, base; base unless given, and "
               "tiny for texts that are made up",
       .words = {"tiny", "mini", "small", "medium", "base"}},
      {.name = "vocab",
       .value_name = "FILE",
       .help = "The WordPiece vocabulary, a token in each line; vocab.txt in the folder of --data "
               "unless given",
       .completes = cli::Completes::kFiles},
      {.name = "max-length",
       .value_name = "N",
       .help = "Tokens that are read of a text, at most 512; a shorter text costs less",
       .default_value = "512",
       .number = true},
      {.name = "input",
       .value_name = "FILE",
       .help = "With --mode predict: texts, one in each line, instead of those in test.csv",
       .completes = cli::Completes::kFiles},
  };
  for (cli::OptionSpec& shared : train_option_specs(bert_defaults())) {
    options.push_back(std::move(shared));
  }
  return options;
}

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

}  // namespace

cli::CommandSpec bert_command() {
  return {
      .path = {"bert"},
      .group = "Tasks",
      .summary = "Put texts into classes, by a BERT",
      .description =
          {"Trains a BERT encoder with a linear head on texts with a class each. --weights begins "
           "with what others have trained: a file of Hugging Face's transformers, of the same "
           "--size and with the same vocabulary. The head is new if the file has none.",
           "With --mode predict each text becomes a line: its number, the class that is likeliest, "
           "and its probability. Classes are called by the lines of class.txt beside the data, if "
           "there is one."},
      .options = bert_options(),
      .examples = {{.command = "outlast-train bert --data ag_news --weights bert.safetensors",
                    .does = "Fine-tunes a pretrained BERT for three epochs"},
                   {.command = "outlast-train bert --learning-rate 5e-4",
                    .does = "Trains a small one from the beginning, on texts that are made up"}},
      .run = run_bert};
}

}  // namespace outlast::trainers
