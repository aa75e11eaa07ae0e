// 'outlast-train-torch': the tasks of 'outlast-train' that need libtorch, which takes half a second
// to load. 'outlast-train' becomes this program for them.

#include <malloc.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "apps/program_main.h"
#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"
#include "cli/program/run.h"
#include "sys/world.h"
#include "trainers/task_commands.h"
#include "trainers/torch/bert_task.h"
#include "trainers/torch/horses_task.h"
#include "trainers/torch/imagenet_task.h"

namespace {

namespace cli = outlast::cli;
namespace trainers = outlast::trainers;

cli::CommandSpec with_run(cli::CommandSpec command, decltype(cli::CommandSpec::run) run) {
  command.run = std::move(run);
  return command;
}

cli::Catalog make_torch_catalog() {
  return {{.name = "outlast-train",
           .tagline = "reference trainers that outlast their machines",
           .typical_command = "imagenet",
           .examples = {}},
          {},
          {with_run(trainers::imagenet_command(), trainers::run_imagenet),
           with_run(trainers::horses_command(), trainers::run_horses),
           with_run(trainers::bert_command(), trainers::run_bert)}};
}

}  // namespace

int main(int argc, char** argv) {
  // Every step needs the same large pieces of memory: what was given back stays here, instead of
  // being taken from the kernel, page by page, in the next one. A third of a step, for small
  // networks.
  (void)::mallopt(M_MMAP_MAX, 0);
  (void)::mallopt(M_TRIM_THRESHOLD, -1);
  return outlast::apps::program_main(
      "outlast-train", std::span(argv, static_cast<std::size_t>(argc)),
      [](std::span<const std::string> arguments, outlast::sys::World& world) {
        return cli::run(make_torch_catalog(), arguments, world);
      });
}
