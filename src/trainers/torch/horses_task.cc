#include "trainers/torch/horses_task.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/program/command_line.h"
#include "sys/file_ops.h"
#include "trainers/free_processors.h"
#include "trainers/job_folder.h"
#include "trainers/task_commands.h"
#include "trainers/torch/image_learner.h"
#include "trainers/torch/image_places.h"
#include "trainers/torch/mobilenet_v3.h"
#include "trainers/torch/torch_call.h"
#include "trainers/torch/torch_run.h"
#include "trainers/train_loop.h"
#include "trainers/train_options.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {

namespace {

constexpr std::uint64_t kModelEpochs = 5;
constexpr std::uint64_t kLogBytesMax = std::uint64_t{1} << 26U;

// A line for log.txt in the job folder.
Result<void> log_line(JobFolder& folder, sys::World& world, const std::string& line) {
  const std::string path = folder.path_of("log.txt");
  std::string text;
  if (world.files.stat(path)) {
    OUTLAST_TRY_ASSIGN(text, sys::read_file(world.files, path, kLogBytesMax));
  }
  return folder.write(path, text + line + "\n");
}

Result<void> log_beginning(JobFolder& folder, sys::World& world, std::uint64_t step,
                           std::uint64_t steps_per_epoch) {
  const std::string now = format_rfc3339(world.clock.wall_now());
  if (step == 0) return log_line(folder, world, "began at " + now);
  return log_line(
      folder, world,
      fmt::format("resumed at {}\nresuming from epoch {}", now, step / steps_per_epoch));
}

Result<void> keep_model(JobFolder& folder, sys::World& world, const EpochReport& report,
                        const Learner& learner) {
  if (report.epoch % kModelEpochs != 0) return {};
  // Of an attempt that was lost after this epoch there may be one already: with the same bits.
  return write_safetensors(world.files,
                           folder.path_of(fmt::format("Models.{:02}-{:.2f}.safetensors",
                                                      report.epoch, report.evaluation.loss)),
                           learner.weights(), {{"epoch", std::to_string(report.epoch)}});
}

}  // namespace

Result<cli::ExitCode> run_horses(const cli::Invocation& invocation, cli::Context& context) {
  ImageLearnerOptions options;
  OUTLAST_TRY_ASSIGN(options.train, read_train_options(invocation, horses_defaults(),
                                                       free_processors(context.world)));
  OUTLAST_TRY_ASSIGN(options.decode_ahead, read_decode_ahead(invocation));
  const TrainOptions& train = options.train;
  const std::size_t side =
      static_cast<std::size_t>(invocation.number("image-size").value_or(kHorseSide));
  if (side < 32 || side > 4096) {
    return Error(ErrorCode::kInvalidArgument, "--image-size must be from 32 to 4096");
  }
  OUTLAST_TRY_ASSIGN(OpenedImages images, open_images({.place = train.data,
                                                       .side = side,
                                                       .synthetic_classes = 2,
                                                       .seed = train.seed,
                                                       .crop_area_min = 0.6,
                                                       .may_download = train.download,
                                                       .is_strict = train.strict},
                                                      context));
  TrainPlan plan{.options = train,
                 .hyper_parameters = hyper_parameters(train),
                 .steps_per_epoch = steps_per_epoch(
                     {.count = images.train->count(), .batch_size = train.batch_size}),
                 .data_from = images.from,
                 .use_threads = use_threads};
  plan.hyper_parameters["image-size"] = std::to_string(side);
  OUTLAST_TRY_ASSIGN(
      const std::unique_ptr<Learner> learner,
      torch_call("make the model", [&]() -> Result<std::unique_ptr<Learner>> {
        seed_first_weights(train.seed);
        const auto classes = static_cast<std::int64_t>(images.train->class_names().size());
        return make_image_learner(
            {.model = make_mobilenet_v3_small({.classes = classes, .norm_momentum = 0.1}),
             .train = std::move(images.train),
             .test = std::move(images.test),
             .threads = context.world.threads},
            options);
      }));
  plan.begins = [&](JobFolder& folder, std::uint64_t step) {
    return log_beginning(folder, context.world, step, plan.steps_per_epoch);
  };
  plan.epoch_done = [&](JobFolder& folder, const EpochReport& report) {
    return keep_model(folder, context.world, report, *learner);
  };
  return run_task(*learner, plan, context);
}

}  // namespace outlast::trainers
