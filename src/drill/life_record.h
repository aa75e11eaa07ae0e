#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drill/agent_lines.h"
#include "drill/printed_steps.h"
#include "drill/report.h"

namespace outlast::drill {

// A life as its report has it, and what else it showed. Times are seconds of its run.
struct LifeRecord {
  Life life = {};
  std::vector<StepSample> samples = {};      // what the trainer printed
  std::vector<std::string> last_words = {};  // the last lines of it
  std::string why = {};                      // the agent's words about the end of the attempt
  // What it told as a warning meanwhile, the newest last.

  std::optional<double> trainer_ended = {};
  bool has_trainer_failed = false;               // by itself, without a notice
  std::string trainer_exit = {};                 // "exit code 1"
  bool was_stopped = false;                      // the agent killed the trainer, which had not left
  bool was_killed = false;                       // with its machine
  bool was_hung = false;                         // no sign of it came for too long
  std::optional<double> asked_to_leave = {};     // by SIGTERM
  std::optional<std::string> started_over = {};  // by its files; the agent's sentence
  bool ignores_sigterm = false;  // SIGTERM is set to be ignored in the trainer's process
  std::optional<double> newest_written = {};  // the newest whole state that it left on the disk
  // Files of the trainer that have a checkpoint's name and are not whole, after the end: a sentence
  // each.
  std::vector<std::string> torn = {};
  // Files with a checkpoint's final name that were open for writing at the end.
  std::vector<std::string> written_in_place = {};
};

// Takes an event of the agent into the record; `now` is when it came.
void take_event(const AgentEvent& event, double now, LifeRecord& record);

// When the trainer had written what this save holds, as far as is known.
double written_at(const Save& save);

// A whole run: what its lives say together. Fills in steps, progress, losses and recoveries of the
// lives, and the run's sums; `scale` is that of all runs.
Run measure(const std::vector<LifeRecord>& records, const StepScale& scale);

}  // namespace outlast::drill
