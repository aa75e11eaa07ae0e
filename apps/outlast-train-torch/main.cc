// 'outlast-train-torch': the tasks of 'outlast-train' that need libtorch, which takes half a second
// to load. 'outlast-train' becomes this program for them.

#include <cstddef>
#include <span>
#include <string>

#include "apps/program_main.h"
#include "cli/program/catalog.h"
#include "cli/program/run.h"
#include "sys/world.h"
#include "trainers/torch/bert_task.h"
#include "trainers/torch/horses_task.h"
#include "trainers/torch/imagenet_task.h"

namespace {

outlast::cli::Catalog make_torch_catalog() {
  return {{.name = "outlast-train",
           .tagline = "reference trainers that outlast their machines",
           .typical_command = "imagenet",
           .examples = {}},
          {},
          {outlast::trainers::imagenet_command(), outlast::trainers::horses_command(),
           outlast::trainers::bert_command()}};
}

}  // namespace

int main(int argc, char** argv) {
  return outlast::apps::program_main(
      "outlast-train", std::span(argv, static_cast<std::size_t>(argc)),
      [](std::span<const std::string> arguments, outlast::sys::World& world) {
        return outlast::cli::run(make_torch_catalog(), arguments, world);
      });
}
