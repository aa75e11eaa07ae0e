#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "drill/life_record.h"
#include "sys/process.h"
#include "sys/process_family.h"
#include "sys/world.h"
#include "trainer_files/layouts.h"

// The end of a machine, and what is seen of its trainer at that moment and after it.
namespace outlast::drill {

// Where a trainer keeps its state.
struct TrainerPlace {
  std::string folder = {};  // that is watched for checkpoints; absolute
  trainer_files::Recognise recognise = trainer_files::Recognise::kLayouts;
};

// The checkpoint files, by whatever names, that the trainers below `agent` have open for writing.
Result<std::vector<std::string>> files_being_written(sys::World& world, const sys::Process& agent,
                                                     const TrainerPlace& place);
// Whether a process below `agent` has set SIGTERM to be ignored.
bool ignores_sigterm(sys::World& world, const sys::Process& agent);

// The machine is gone: the agent and everybody below it, all at once. First they are stopped, until
// nobody new is found, so that nobody acts after somebody else has died; then they are killed.
// Afterwards nobody of them runs.
Result<void> end_machine(sys::World& world, sys::Process& agent);

// Looks at what the trainer has left behind: torn files, of those that were `open` at the end the
// ones with a final name, the newest whole state. `run_began` is when the run's clock was zero.
Result<void> look_at_remains(sys::World& world, const TrainerPlace& place,
                             const std::vector<std::string>& open, WallTime run_began,
                             LifeRecord& record);

}  // namespace outlast::drill
