#include "trainers/torch/imagenet_task.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/program/command_line.h"
#include "trainers/free_processors.h"
#include "trainers/task_commands.h"
#include "trainers/torch/image_learner.h"
#include "trainers/torch/image_places.h"
#include "trainers/torch/resnet.h"
#include "trainers/torch/torch_call.h"
#include "trainers/torch/torch_run.h"
#include "trainers/train_loop.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

namespace {

struct Architecture {
  std::string_view name;
  ResnetKind kind;
  std::size_t side;  // unless another one is asked for
};
constexpr std::array<Architecture, 4> kArchitectures = {{
    {"resnet18", ResnetKind::kResnet18, 224},
    {"resnet50", ResnetKind::kResnet50, 224},
    {"resnet20", ResnetKind::kResnet20, 32},
    {"resnet56", ResnetKind::kResnet56, 32},
}};

const Architecture& architecture_of(const cli::Invocation& invocation) {
  const std::string name = invocation.value("arch").value_or("resnet18");
  for (const Architecture& one : kArchitectures) {
    if (one.name == name) return one;
  }
  return kArchitectures.front();
}

struct ImagenetOptions {
  ImageLearnerOptions learner = {};
  std::size_t side = 0;
};

Result<ImagenetOptions> read_imagenet_options(const cli::Invocation& invocation,
                                              const Architecture& architecture,
                                              cli::Context& context) {
  ImagenetOptions options;
  ImageLearnerOptions& learner = options.learner;
  OUTLAST_TRY_ASSIGN(learner.train, read_train_options(invocation, imagenet_defaults(),
                                                       free_processors(context.world)));
  learner.may_have_new_head = learner.train.mode == Mode::kTrain;
  learner.unfreeze_epoch = invocation.number("unfreeze-epoch");
  learner.is_frozen = invocation.flag("freeze") || learner.unfreeze_epoch.has_value();
  OUTLAST_TRY_ASSIGN(learner.decode_ahead, read_decode_ahead(invocation));
  options.side =
      static_cast<std::size_t>(invocation.number("image-size").value_or(architecture.side));
  if (options.side < 32 || options.side > 4096) {
    return Error(ErrorCode::kInvalidArgument, "--image-size must be from 32 to 4096");
  }
  return options;
}

HyperParameters imagenet_hyper_parameters(const ImagenetOptions& options,
                                          const Architecture& architecture) {
  HyperParameters values = hyper_parameters(options.learner.train);
  values["arch"] = architecture.name;
  values["image-size"] = std::to_string(options.side);
  if (options.learner.is_frozen) {
    values["freeze"] = "yes";
    if (options.learner.unfreeze_epoch) {
      values["unfreeze-epoch"] = std::to_string(*options.learner.unfreeze_epoch);
    }
  }
  return values;
}

}  // namespace

Result<cli::ExitCode> run_imagenet(const cli::Invocation& invocation, cli::Context& context) {
  const Architecture& architecture = architecture_of(invocation);
  OUTLAST_TRY_ASSIGN(const ImagenetOptions options,
                     read_imagenet_options(invocation, architecture, context));
  const TrainOptions& train = options.learner.train;
  OUTLAST_TRY_ASSIGN(OpenedImages images, open_images({.place = train.data,
                                                       .side = options.side,
                                                       .seed = train.seed,
                                                       .margin = 256.0 / 224,
                                                       .may_download = train.download,
                                                       .is_strict = train.strict},
                                                      context));
  const TrainPlan plan{.options = train,
                       .hyper_parameters = imagenet_hyper_parameters(options, architecture),
                       .steps_per_epoch = steps_per_epoch(
                           {.count = images.train->count(), .batch_size = train.batch_size}),
                       .data_from = images.from,
                       .use_threads = use_threads};
  OUTLAST_TRY_ASSIGN(const std::unique_ptr<Learner> learner,
                     torch_call("make the model", [&]() -> Result<std::unique_ptr<Learner>> {
                       seed_first_weights(train.seed);
                       const auto classes =
                           static_cast<std::int64_t>(images.train->class_names().size());
                       return make_image_learner({.model = make_resnet(architecture.kind, classes),
                                                  .train = std::move(images.train),
                                                  .test = std::move(images.test),
                                                  .threads = context.world.threads},
                                                 options.learner);
                     }));
  return run_task(*learner, plan, context);
}

}  // namespace outlast::trainers
