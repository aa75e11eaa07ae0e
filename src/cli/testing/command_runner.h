#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/program/testing/program_runner.h"  // IWYU pragma: export

namespace outlast::cli::testing {

// A simulated machine to run commands of 'outlast' on. Set it up, then run(); once each.
class CommandRunner : public ProgramRunner {
 public:
  Ran run(const std::vector<std::string>& arguments) {
    return ProgramRunner::run(make_catalog(), arguments);
  }
};

inline Ran run_command(const std::vector<std::string>& arguments) {
  return CommandRunner().run(arguments);
}

}  // namespace outlast::cli::testing
