#include "trainers/program/catalog.h"

#include <fmt/core.h>

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/standard_commands.h"
#include "trainers/census/census_command.h"
#include "trainers/cifar10/cifar10_command.h"
#include "trainers/program/weight_commands.h"
#include "trainers/task_commands.h"

namespace outlast::trainers {
namespace {

constexpr std::array<std::string_view, 3> kTorchTasks = {"imagenet", "horses", "bert"};

// The program that can run them is found before this one looks at its command line, if it is there.
cli::CommandSpec without_torch(cli::CommandSpec command) {
  command.run = [](const cli::Invocation& invocation, cli::Context&) -> Result<cli::ExitCode> {
    return Error(ErrorCode::kNotFound,
                 fmt::format("'{}' needs the program 'outlast-train-torch' beside this one: "
                             "install libtorch-dev, libdnnl-dev, libturbojpeg0-dev and "
                             "libpng-dev, and build again",
                             invocation.command->path.back()));
  };
  return command;
}

}  // namespace

std::span<const std::string_view> torch_tasks() {
  return kTorchTasks;
}

cli::Catalog make_catalog() {
  cli::ProgramSpec program = {
      .name = "outlast-train",
      .tagline = "reference trainers that outlast their machines",
      .typical_command = "cifar10",
      .examples = {{.command = "outlast-train cifar10", .does = "train on made-up pictures"},
                   {.command = "outlast run -- outlast-train cifar10",
                    .does = "the same, and survive the machine"},
                   {.command = "outlast-train cifar10 --help",
                    .does = "everything about one task"}},
  };
  std::vector<cli::CommandSpec> commands = {
      cifar10_command(),
      without_torch(imagenet_command()),
      without_torch(horses_command()),
      without_torch(bert_command()),
      census_command(),
      export_command(),
      import_command(),
      cli::help_command(program),
      cli::completion_command(program),
      cli::complete_command(),
  };
  return {std::move(program), {}, std::move(commands)};
}

}  // namespace outlast::trainers
