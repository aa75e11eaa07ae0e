#include "trainers/cifar10/cifar10_command.h"

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "trainers/cifar10/cnn_learner.h"
#include "trainers/data/cifar.h"
#include "trainers/data/image_set.h"
#include "trainers/data/mnist.h"
#include "trainers/data/synthetic.h"
#include "trainers/data_place.h"
#include "trainers/free_processors.h"
#include "trainers/train_loop.h"
#include "trainers/train_options.h"

namespace outlast::trainers {
namespace {

const TaskDefaults& cifar10_defaults() {
  static const TaskDefaults defaults = {
      .task = "cifar10",
      .epochs = "10",
      .batch_size = "4",
      .learning_rate = "0.001",
      .data_help =
          "A folder or URL with the files of --dataset, or synthetic for made-up pictures"};
  return defaults;
}

Result<ImageData> read_images(const std::string& dataset, const TrainOptions& options,
                              cli::Context& context) {
  if (options.data == "synthetic") {
    const bool is_mnist = dataset == "mnist";
    return synthetic_images({.classes = dataset == "cifar100" ? 100U : 10U,
                             .width = is_mnist ? 28U : 32U,
                             .height = is_mnist ? 28U : 32U,
                             .channels = is_mnist ? 1U : 3U,
                             .seed = 1});
  }
  OUTLAST_TRY_ASSIGN(
      const std::string folder,
      find_data({.place = options.data, .dataset = dataset, .may_download = options.download},
                context));
  if (dataset == "cifar100") return read_cifar100(context.world.files, folder);
  if (dataset == "mnist") return read_mnist(context.world.files, folder);
  return read_cifar10(context.world.files, folder);
}

Result<cli::ExitCode> run_cifar10(const cli::Invocation& invocation, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(
      const TrainOptions options,
      read_train_options(invocation, cifar10_defaults(), free_processors(context.world)));
  const std::string dataset = invocation.value("dataset").value_or("cifar10");
  OUTLAST_TRY_ASSIGN(ImageData data, read_images(dataset, options, context));
  OUTLAST_TRY_ASSIGN(data.train, with_border(std::move(data.train)));
  OUTLAST_TRY_ASSIGN(data.test, with_border(std::move(data.test)));
  TrainPlan plan{
      .options = options, .hyper_parameters = hyper_parameters(options), .data_from = data.from};
  plan.hyper_parameters["dataset"] = dataset;
  CnnLearner learner(std::move(data), options, context.world.threads);
  plan.steps_per_epoch = learner.steps_per_epoch();
  return run_task(learner, plan, context);
}

}  // namespace

cli::CommandSpec cifar10_command() {
  std::vector<cli::OptionSpec> options = train_option_specs(cifar10_defaults());
  options.insert(options.begin() + 2, {.name = "dataset",
                                       .value_name = "NAME",
                                       .help = "Whose files --data holds: cifar10, cifar100, mnist",
                                       .words = {"cifar10", "cifar100", "mnist"},
                                       .default_value = "cifar10"});
  return {
      .path = {"cifar10"},
      .group = "Tasks",
      .summary = "Train a small CNN to tell pictures of 32x32 pixels apart",
      .description =
          {"Two convolutions and three dense layers, as in PyTorch's tutorial, in code of their "
           "own: "
           "some ten times as fast as a framework on small batches, and the same bits on every "
           "processor and with any number of threads.",
           "Interrupted at any moment and started again with the same command, it ends with "
           "exactly "
           "the weights that it would have had."},
      .options = std::move(options),
      .examples = {{.command = "outlast-train cifar10 --data cifar-10-batches-bin",
                    .does = "Train as the tutorial does: 10 epochs, batches of 4"},
                   {.command = "outlast run -- outlast-train cifar10 --data synthetic",
                    .does = "The same on a machine that may vanish, with made-up pictures"},
                   {.command = "outlast-train cifar10 --data DIR --mode evaluate",
                    .does = "How good is the model in the job folder?"}},
      .run = run_cifar10,
  };
}

}  // namespace outlast::trainers
