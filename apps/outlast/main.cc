// 'outlast'.

#include <cstddef>
#include <span>
#include <string>

#include "apps/program_main.h"
#include "cli/commands.h"
#include "sys/world.h"

int main(int argc, char** argv) {
  return outlast::apps::program_main(
      "outlast", std::span(argv, static_cast<std::size_t>(argc)),
      [](std::span<const std::string> arguments, outlast::sys::World& world) {
        return outlast::cli::run(arguments, world);
      });
}
