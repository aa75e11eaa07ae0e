#include "cli/commands.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/run.h"
#include "cli/program/standard_commands.h"
#include "sys/world.h"

namespace outlast::cli {

Catalog make_catalog() {
  ProgramSpec program = {
      .name = "outlast",
      .tagline = "training jobs that outlast their machines",
      .typical_command = "job check",
      .examples = {{.command = "outlast doctor", .does = "see what works on this machine"},
                   {.command = "outlast job check job.yaml",
                    .does = "see a job as it will run, or its mistakes"},
                   {.command = "outlast job check --help", .does = "everything about one command"}},
  };
  std::vector<GroupSpec> groups = {
      {.name = "job", .summary = "look at job files"},
      {.name = "ckpt", .summary = "save, look at and restore checkpoints"},
      {.name = "store", .summary = "look at, copy and check object stores"},
      {.name = "sim", .summary = "search simulated histories for mistakes"},
  };
  std::vector<CommandSpec> commands = {
      run_command(),          drill_command(),       stand_in_command(),
      ls_command(),           status_command(),      logs_command(),
      events_command(),       cancel_command(),      resume_command(),
      job_check_command(),    job_schema_command(),  ckpt_save_command(),
      ckpt_restore_command(), ckpt_ls_command(),     ckpt_show_command(),
      ckpt_diff_command(),    ckpt_verify_command(), ckpt_prune_command(),
      ckpt_pin_command(),     ckpt_export_command(), store_check_command(),
      store_ls_command(),     store_cat_command(),   store_cp_command(),
      store_rm_command(),     doctor_command(),      sim_run_command(),
      sim_replay_command(),   help_command(program), completion_command(program),
      complete_command(),
  };
  return {std::move(program), std::move(groups), std::move(commands)};
}

ExitCode run(std::span<const std::string> arguments, sys::World& world) {
  return run(make_catalog(), arguments, world);
}

}  // namespace outlast::cli
