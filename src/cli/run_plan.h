#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/trainer.h"
#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "job/spec.h"
#include "store/open/store_url.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

// What 'outlast run' was asked to do, worked out before anything is touched.
namespace outlast::cli {

struct RunPlan {
  job::Spec spec = {};
  store::StoreUrl root = {};
  agent::TrainerCommand trainer = {};
  std::string command = {};  // the trainer's, as somebody would type it
  std::string watched = {};  // the folder whose checkpoints are looked after, absolute
  trainer_files::Recognise recognise = trainer_files::Recognise::kLayouts;
  // Where bad news is heard from, beside these files: "auto", "gce", "slurm", …
  std::vector<std::string> notice_places = {};
  std::vector<std::string> notice_files = {};
  bool hears_signals = true;
  bool shuts_down = false;  // the machine, when the job has ended
  bool take_over_now = false;
  bool named_itself = false;               // nobody gave the job a name
  std::vector<std::string> not_done = {};  // keys of the job file that are not acted on yet
};

// From the job file, if one was given, and the options, which win. kInvalidArgument, with the
// sentence for the user, if something does not fit. `reading` is that of the job file.
Result<RunPlan> make_run_plan(const Invocation& invocation,
                              const std::optional<job::SpecReading>& reading, sys::World& world);

// A name for a job that nobody has named: from what its command is called, and what it is, so that
// the same command is the same job, on whatever machine.
std::string job_name_of(const std::vector<std::string>& command);

// kNotFound, in one sentence, if there is no such program: nothing is to be begun for a slip of the
// pen.
Result<void> find_program(const RunPlan& plan, sys::World& world);

}  // namespace outlast::cli
