#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/encoding.h"
#include "base/result.h"
#include "cli/program/catalog.h"
#include "cli/program/run.h"
#include "sim/simulation.h"
#include "sys/file_ops.h"
#include "sys/world.h"

namespace outlast::cli::testing {

// How a command went on a simulated machine.
struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// A simulated machine to run commands of a program on. Set it up, then run(); once each.
class ProgramRunner {
 public:
  sim::Machine& machine() { return machine_; }

  // The file exists when the command starts.
  void add_file(const std::string& path, std::string content) {
    files_.emplace_back(path, std::move(content));
  }

  // Runs `body` on the machine.
  void run_body(const std::function<void(sys::World&)>& body) {
    const sim::Outcome outcome = simulation_.run([&] {
      machine_.boot(
          [&](sys::World& world) {
            write_files(world);
            body(world);
          },
          {});
    });
    OUTLAST_CHECK(outcome.ok, "{}", outcome.failure);
  }

  Ran run(const Catalog& catalog, const std::vector<std::string>& arguments) {
    Ran ran;
    run_body([&](sys::World& world) {
      ran.exit_code = static_cast<int>(cli::run(catalog, arguments, world));
    });
    ran.out = machine_.console().out_text;
    ran.err = machine_.console().err_text;
    return ran;
  }

 private:
  void write_files(sys::World& world) {
    for (const auto& [path, content] : files_) {
      Result<void> made = sys::make_dirs(world.files, sys::parent_path(path));
      if (made) made = sys::write_file_atomically(world.files, path, as_bytes(content));
      OUTLAST_CHECK(made.has_value(), "{}", made.error().to_string());
    }
  }

  sim::Simulation simulation_{sim::KernelOptions{}};
  sim::Machine& machine_ = simulation_.add_machine("m", 20ULL << 30U);
  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace outlast::cli::testing
