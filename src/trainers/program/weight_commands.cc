#include "trainers/program/weight_commands.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"
#include "trainers/weights/pth_file.h"
#include "trainers/weights/weight_file.h"

namespace outlast::trainers {
namespace {

// A job folder stands for the model in it.
std::string model_in(sys::FileSystem& files, const std::string& path) {
  const Result<sys::FileInfo> info = files.stat(path);
  if (info && info->type == sys::FileType::kDirectory) {
    return sys::join_path(path, "model.safetensors");
  }
  return path;
}

std::string with_ending(const std::string& path, std::string_view ending) {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return path.substr(0, has_ending ? dot : path.size()) + std::string(ending);
}

Result<void> refuse_same(const std::string& from, const std::string& to) {
  if (from != to) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} would be written over itself: name another file with --output", to));
}

cli::ExitCode tell(const cli::Context& context, const Weights& weights, const std::string& to) {
  context.terminal.print(fmt::format("{} tensors in {}\n", weights.tensors.size(), to));
  return cli::ExitCode::kOk;
}

Result<cli::ExitCode> run_export(const cli::Invocation& invocation, cli::Context& context) {
  sys::FileSystem& files = context.world.files;
  const std::string from = model_in(files, invocation.positionals[0]);
  const bool is_pth = invocation.value("format").value_or("pth") == "pth";
  const std::string to =
      invocation.value("output").value_or(with_ending(from, is_pth ? ".pth" : ".safetensors"));
  OUTLAST_TRY(refuse_same(from, to));
  OUTLAST_TRY_ASSIGN(const Weights weights, read_weights(files, from));
  if (is_pth) {
    OUTLAST_TRY(write_pth(files, to, weights));
  } else {
    OUTLAST_TRY(write_safetensors(files, to, weights, {}));
  }
  return tell(context, weights, to);
}

Result<cli::ExitCode> run_import(const cli::Invocation& invocation, cli::Context& context) {
  sys::FileSystem& files = context.world.files;
  const std::string& from = invocation.positionals[0];
  const std::string to = invocation.value("output").value_or(with_ending(from, ".safetensors"));
  OUTLAST_TRY(refuse_same(from, to));
  OUTLAST_TRY_ASSIGN(Weights weights, read_weights(files, from));
  weights = plain_state(std::move(weights));
  if (weights.tensors.empty()) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("there is no tensor in {}", from));
  }
  OUTLAST_TRY(write_safetensors(files, to, weights, {}));
  return tell(context, weights, to);
}

cli::OptionSpec output_option() {
  return {.name = "output",
          .value_name = "FILE",
          .help = "Where to write it; beside the other one unless given",
          .completes = cli::Completes::kFiles};
}

}  // namespace

cli::CommandSpec export_command() {
  return {
      .path = {"export"},
      .group = "Weights",
      .summary = "Write a trained model as a file that others read",
      .description = {"A .pth file is a state dict: torch.load() reads it in Python, also with "
                      "weights_only=True, and load_state_dict() takes it."},
      .positionals = {{.name = "MODEL",
                       .help = "A job folder whose training is done, or a file of weights",
                       .completes = cli::Completes::kFiles}},
      .options = {{.name = "format",
                   .value_name = "FORMAT",
                   .help = "pth (PyTorch's) or safetensors",
                   .words = {"pth", "safetensors"},
                   .default_value = "pth"},
                  output_option()},
      .examples = {{.command = "outlast-train export outlast-cifar10 --output net.pth",
                    .does = "torch.load('net.pth') gives its state dict"}},
      .run = run_export,
  };
}

cli::CommandSpec import_command() {
  return {
      .path = {"import"},
      .group = "Weights",
      .summary = "Read weights that others have written",
      .description =
          {"Takes files of torch.save(), old and new, and safetensors, without running anything "
           "that is in them. What wrappers and checkpoints put around the model's own names is "
           "taken off. A task's --weights reads all these files by itself, too."},
      .positionals = {{.name = "FILE",
                       .help = "A .pth, .pt, .th, .bin or .safetensors file",
                       .completes = cli::Completes::kFiles}},
      .options = {output_option()},
      .examples = {{.command = "outlast-train import resnet50.pth",
                    .does = "Makes resnet50.safetensors"}},
      .run = run_import,
  };
}

}  // namespace outlast::trainers
