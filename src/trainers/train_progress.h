#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/program/command_spec.h"
#include "cli/program/progress_line.h"
#include "trainers/learner.h"

namespace outlast::trainers {

// What a person sees of a training: on a terminal one line with rate, time to go, loss and
// accuracy, redrawn in place; elsewhere such a line every ten seconds; and always one for each
// evaluation. Confined to its owner.
class TrainProgress {
 public:
  struct Course {
    std::uint64_t steps = 0;
    std::uint64_t steps_per_epoch = 1;
    std::string examples_name = {};
  };
  TrainProgress(cli::Context& context, Course course);

  // Before the first step().
  void begin();
  // So many are done. Cheap: does something some ten times a second.
  void step(std::uint64_t done, const StepReport& report);
  // What takes time now is none of the steps.
  void pause(std::string_view doing);
  void evaluated(std::uint64_t done, const Evaluation& evaluation);
  // Removes the line.
  void end();

 private:
  void show(std::uint64_t done, MonoTime now);
  std::string where(std::uint64_t done) const;

  cli::Context& context_;
  Course course_;
  cli::ProgressLine line_;
  Duration interval_;    // between two texts
  MonoTime since_ = {};  // of what follows, all since the last text
  StepReport seen_ = {};
  double loss_sum_ = 0;
  std::uint64_t steps_seen_ = 0;
};

}  // namespace outlast::trainers
