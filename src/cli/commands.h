#pragma once

#include <span>
#include <string>

#include "cli/program/catalog.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "sys/world.h"

// The commands of 'outlast', each defined in its own command_*.cc.
namespace outlast::cli {

CommandSpec run_command();
CommandSpec drill_command();
CommandSpec ls_command();
CommandSpec status_command();
CommandSpec logs_command();
CommandSpec events_command();
CommandSpec cancel_command();
CommandSpec resume_command();
CommandSpec job_check_command();
CommandSpec job_schema_command();
CommandSpec ckpt_save_command();
CommandSpec ckpt_restore_command();
CommandSpec ckpt_ls_command();
CommandSpec ckpt_show_command();
CommandSpec ckpt_diff_command();
CommandSpec ckpt_verify_command();
CommandSpec ckpt_prune_command();
CommandSpec ckpt_pin_command();
CommandSpec ckpt_export_command();
CommandSpec store_check_command();
CommandSpec store_ls_command();
CommandSpec store_cat_command();
CommandSpec store_cp_command();
CommandSpec store_rm_command();
CommandSpec stand_in_command();
CommandSpec sim_run_command();
CommandSpec sim_replay_command();
CommandSpec doctor_command();

// The program with all of them, in the order in which help shows them.
Catalog make_catalog();

// run() of that catalog: 'outlast' after main().
ExitCode run(std::span<const std::string> arguments, sys::World& world);

}  // namespace outlast::cli
