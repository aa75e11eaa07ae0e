#include "cli/commands.h"

#include <utility>
#include <vector>

#include "cli/catalog.h"
#include "cli/command_spec.h"

namespace outlast::cli {

Catalog make_catalog() {
  std::vector<GroupSpec> groups = {
      {.name = "job", .summary = "look at job files"},
      {.name = "ckpt", .summary = "save, look at and restore checkpoints"},
      {.name = "store", .summary = "look at, copy and check object stores"},
      {.name = "sim", .summary = "search simulated histories for mistakes"},
  };
  std::vector<CommandSpec> commands = {
      run_command(),          drill_command(),      stand_in_command(),   ls_command(),
      status_command(),       logs_command(),       events_command(),     cancel_command(),
      resume_command(),       job_check_command(),  job_schema_command(), ckpt_save_command(),
      ckpt_restore_command(), ckpt_ls_command(),    ckpt_show_command(),  ckpt_diff_command(),
      ckpt_verify_command(),  ckpt_prune_command(), ckpt_pin_command(),   ckpt_export_command(),
      store_check_command(),  store_ls_command(),   store_cat_command(),  store_cp_command(),
      store_rm_command(),     doctor_command(),     sim_run_command(),    sim_replay_command(),
      help_command(),         completion_command(), complete_command(),
  };
  return {std::move(groups), std::move(commands)};
}

}  // namespace outlast::cli
