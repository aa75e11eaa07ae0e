#pragma once

#include "cli/catalog.h"
#include "cli/command_spec.h"

// The commands of the program, each defined in its own command_*.cc.
namespace outlast::cli {

CommandSpec job_check_command();
CommandSpec job_schema_command();
CommandSpec store_check_command();
CommandSpec store_ls_command();
CommandSpec store_cat_command();
CommandSpec store_cp_command();
CommandSpec store_rm_command();
CommandSpec sim_run_command();
CommandSpec sim_replay_command();
CommandSpec doctor_command();
CommandSpec completion_command();
CommandSpec complete_command();
CommandSpec help_command();

// All of them, in the order in which help shows them.
Catalog make_catalog();

}  // namespace outlast::cli
