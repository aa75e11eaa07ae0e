#pragma once

#include <string>
#include <string_view>

#include "job/spec.h"

// What the end of the trainer's process means for the job. Pure.
namespace outlast::job {

// How the process ended: by itself with a code, or killed by a signal.
struct TrainerExit {
  bool by_signal = false;
  int value = 0;  // the code, or the signal's number
  friend bool operator==(const TrainerExit&, const TrainerExit&) = default;
};

// "exit code 1", "SIGSEGV": short, and the same for the same death.
std::string describe(const TrainerExit& exit);

enum class EndMeaning {
  kDone,        // the job is done
  kLeft,        // it made room; the next attempt goes on
  kFailed,      // to be tried again, within the job's retries
  kNeverAgain,  // it says itself that trying again is no use
};
std::string_view to_string(EndMeaning meaning);

struct TrainerEnd {
  EndMeaning meaning = EndMeaning::kFailed;
  std::string why = {};  // one sentence for the record
};

// `told_to_leave`: we had asked it before it ended, or a notice was there, whose sender may have
// told it, too (Slurm signals a whole step). Then every end is kLeft, also an exit 0: trainers
// that save on SIGTERM exit with 0 although they are not done, and what a trainer that was told to
// go says about the job is no reason to end it for good. The next attempt finds out.
TrainerEnd judge_end(const TrainerExit& exit, bool told_to_leave, const ExitCodes& codes);

}  // namespace outlast::job
