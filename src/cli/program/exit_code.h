#pragma once

#include <span>
#include <string_view>

#include "base/error.h"

namespace outlast::cli {

// How the program ended, for scripts. Numbers are a promise: they are documented and never reused.
enum class ExitCode {
  kOk = 0,
  kFailed = 1,
  kWrongCommandLine = 2,
  kBadInput = 3,
  kNotAvailable = 4,
  kNotMet = 5,
  kLeft = 75,          // EX_TEMPFAIL
  kInterrupted = 130,  // as a shell reports SIGINT
  kReaderGone = 141,   // as a shell reports SIGPIPE
};

struct ExitCodeMeaning {
  ExitCode code;
  std::string_view meaning;  // a short phrase, no full stop
};

// Every exit code with its meaning, for --help and the documents.
std::span<const ExitCodeMeaning> exit_code_meanings();

// The exit code of a command that ends with an error of this kind.
ExitCode exit_code_for(ErrorCode code);

}  // namespace outlast::cli
