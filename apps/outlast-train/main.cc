// 'outlast-train': the tasks that need no large library, and the way to those that do.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/program_main.h"
#include "cli/program/run.h"
#include "sys/world.h"
#include "trainers/program/catalog.h"

namespace {

// libtorch takes half a second to load, so that its tasks are a program of their own, in the same
// folder. Returns if there is none: the catalog's own entry then says so.
void become_torch_program(std::span<char*> words) {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0 || length == static_cast<ssize_t>(sizeof(path))) return;
  const std::string program = std::string(path, static_cast<std::size_t>(length)) + "-torch";
  // Its threads would otherwise turn in circles while they wait, on processors of others; the
  // library reads this when it is loaded.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  ::setenv("GOMP_SPINCOUNT", "0", 0);
  std::vector<char*> arguments(words.begin(), words.end());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
}

}  // namespace

int main(int argc, char** argv) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  const std::span<const std::string_view> torch_tasks = outlast::trainers::torch_tasks();
  if (std::ranges::any_of(
          words.first(std::min<std::size_t>(words.size(), 3)), [&](const char* word) {
            return std::ranges::find(torch_tasks, std::string_view(word)) != torch_tasks.end();
          })) {
    become_torch_program(words);
  }
  return outlast::apps::program_main(
      "outlast-train", words,
      [](std::span<const std::string> arguments, outlast::sys::World& world) {
        return outlast::cli::run(outlast::trainers::make_catalog(), arguments, world);
      });
}
