#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/ckpt_access.h"
#include "cli/program/command_spec.h"
#include "job/log_entry.h"

namespace outlast::cli {

// Which streams of a job's attempts are read, and how far.
struct FollowPlan {
  std::string (*prefix)(job::Epoch) = nullptr;  // of the stream, by attempt
  std::optional<job::Epoch> only = {};          // this attempt
  bool all = false;                             // else from the first on; else the newest
  bool follow = false;                          // goes on until it, or the job, has ended
};

// Called by the caller's thread.
struct FollowSink {
  // Before anything of an attempt.
  std::function<void(job::Epoch epoch)> begin = {};
  std::function<void(job::Epoch epoch, std::string_view piece)> piece = {};
};

// Gives `sink` what there is, in order. With `follow` it asks the root again every two seconds,
// goes on with the next attempt when there is one, and returns when the job has ended and its last
// attempt is not heard of any more, or nobody reads our output. kNotFound, with which there are, if
// there is no such attempt.
Result<void> follow_attempts(const FollowPlan& plan, OpenJob& job, Context& context,
                             const FollowSink& sink);

// --attempt N and --follow, -f.
OptionSpec attempt_option(std::string_view otherwise);
OptionSpec follow_option();

}  // namespace outlast::cli
