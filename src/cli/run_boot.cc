#include "cli/run_boot.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/run_plan.h"
#include "machine/boot.h"
#include "machine/boot_unit.h"
#include "store/open/store_url.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

// The command line once more, for the next boot.
std::vector<std::string> same_command(const Invocation& invocation, const std::string& program) {
  std::vector<std::string> argv = {program, "run"};
  for (const std::string& positional : invocation.positionals) argv.push_back(positional);
  for (const auto& [name, value] : invocation.values) {
    argv.push_back("--" + name);
    argv.push_back(value);
  }
  for (const auto& [name, values] : invocation.lists) {
    for (const std::string& value : values) {
      argv.push_back("--" + name);
      argv.push_back(value);
    }
  }
  for (const std::string& flag : invocation.flags) {
    if (flag != "install-boot") argv.push_back("--" + flag);
  }
  if (!invocation.trailing.empty()) argv.emplace_back("--");
  argv.insert(argv.end(), invocation.trailing.begin(), invocation.trailing.end());
  return argv;
}

}  // namespace

Result<ExitCode> install_boot(const Invocation& invocation, const RunPlan& plan,
                              const Context& context) {
  sys::World& world = context.world;
  OUTLAST_TRY_ASSIGN(const std::string program, world.files.read_symlink("/proc/self/exe"));
  const bool is_folder = plan.root.kind == store::StoreKind::kFolder;
  const machine::BootSpec spec = {.job = plan.spec.name,
                                  .argv = same_command(invocation, program),
                                  .working_folder = world.environment.working_dir(),
                                  .needed_folder = is_folder ? plan.root.path : "",
                                  .grace = plan.spec.grace,
                                  .path = world.environment.get("PATH").value_or("")};
  OUTLAST_TRY_ASSIGN(const machine::BootInstalled installed,
                     machine::install_boot(world, spec, {}));
  if (context.terminal.json()) {
    context.terminal.print_json(
        {{"file", installed.file}, {"environment_file", installed.environment_file}});
    return ExitCode::kOk;
  }
  context.terminal.print(fmt::format("wrote {}\n", installed.file));
  context.terminal.note(fmt::format(
      "job '{}' goes on at every boot. Credentials, if it needs any, go into {} (NAME=value, mode "
      "600).{}",
      plan.spec.name.str(), installed.environment_file,
      installed.kind == machine::BootKind::kSystemd
          ? fmt::format(" To begin now: systemctl start {}",
                        machine::systemd_unit_name(plan.spec.name))
          : " To begin now, give the same command without --install-boot"));
  return ExitCode::kOk;
}

Result<ExitCode> remove_boot(const RunPlan& plan, const Context& context) {
  OUTLAST_TRY_ASSIGN(const std::vector<std::string> removed,
                     machine::remove_boot(context.world, plan.spec.name, {}));
  for (const std::string& file : removed) context.terminal.print(fmt::format("removed {}\n", file));
  if (removed.empty()) {
    context.terminal.note(fmt::format("nothing starts job '{}' at boot", plan.spec.name.str()));
  }
  return ExitCode::kOk;
}

}  // namespace outlast::cli
