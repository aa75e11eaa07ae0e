#include "cli/program/exit_code.h"

#include <array>
#include <span>

#include "base/error.h"

namespace outlast::cli {
namespace {

constexpr std::array kMeanings = {
    ExitCodeMeaning{ExitCode::kOk, "it worked"},
    ExitCodeMeaning{ExitCode::kFailed, "it failed; the message says why"},
    ExitCodeMeaning{ExitCode::kWrongCommandLine, "the command line is wrong; nothing was done"},
    ExitCodeMeaning{ExitCode::kBadInput,
                    "a file or a name that was given is missing or has mistakes"},
    ExitCodeMeaning{ExitCode::kNotAvailable, "not possible right now; trying again later may help"},
    ExitCodeMeaning{ExitCode::kNotMet, "it ran, and an expectation was not met"},
    ExitCodeMeaning{ExitCode::kLeft, "the machine ends: all is saved, resume it elsewhere"},
    ExitCodeMeaning{ExitCode::kInterrupted, "interrupted"},
    ExitCodeMeaning{ExitCode::kReaderGone, "whoever read the output went away (a closed pipe)"},
};

}  // namespace

std::span<const ExitCodeMeaning> exit_code_meanings() {
  return kMeanings;
}

ExitCode exit_code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
      return ExitCode::kBadInput;
    case ErrorCode::kUnavailable:
    case ErrorCode::kThrottled:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kPreempted:
      return ExitCode::kNotAvailable;
    case ErrorCode::kCancelled:
      return ExitCode::kInterrupted;
    // Trying again could do it twice, so scripts must not take this for "later".
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConditionFailed:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kNoSpace:
    case ErrorCode::kCorrupt:
    case ErrorCode::kFailed:
      return ExitCode::kFailed;
  }
  return ExitCode::kFailed;
}

}  // namespace outlast::cli
