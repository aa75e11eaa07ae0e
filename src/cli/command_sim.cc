#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "sim/kernel.h"
#include "sim/workloads/workload.h"

namespace outlast::cli {
namespace {

constexpr std::uint64_t kSeedsDefault = 1000;

// What both commands take, read.
struct SimChoice {
  const sim::Workload* workload = nullptr;
  std::string bug;
};

Result<SimChoice> read_choice(const Invocation& invocation) {
  SimChoice choice;
  const std::string name =
      invocation.value("workload").value_or(std::string(sim::workloads().front().name));
  OUTLAST_TRY_ASSIGN(choice.workload, sim::find_workload(name));
  choice.bug = invocation.value("bug").value_or("");
  if (choice.bug.empty()) return choice;
  std::vector<std::string_view> bugs;
  for (const sim::SeededBug& bug : choice.workload->bugs) {
    if (bug.name == choice.bug) return choice;
    bugs.push_back(bug.name);
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("the workload '{}' has no bug '{}'{}", name, choice.bug,
                           did_you_mean(choice.bug, bugs)));
}

std::string replay_command(const SimChoice& choice, std::uint64_t seed) {
  std::string command =
      fmt::format("outlast sim replay {} --workload {}", seed, choice.workload->name);
  if (!choice.bug.empty()) command += " --bug " + choice.bug;
  return command;
}

Json outcome_json(const sim::Outcome& outcome, std::uint64_t seed) {
  return {{"seed", seed},
          {"ok", outcome.ok},
          {"failure", outcome.failure},
          {"trace_hash", fmt::format("{:016x}", outcome.trace_hash)},
          {"steps", outcome.steps},
          {"virtual_seconds", std::chrono::duration<double>(outcome.time).count()}};
}

Result<ExitCode> run_sim_run(const Invocation& invocation, Context& context) {
  const Terminal& terminal = context.terminal;
  OUTLAST_TRY_ASSIGN(const SimChoice choice, read_choice(invocation));
  const std::uint64_t seeds = invocation.number("seeds").value_or(kSeedsDefault);
  const std::uint64_t first = invocation.number("first").value_or(1);
  if (seeds == 0 || first > std::numeric_limits<std::uint64_t>::max() - (seeds - 1)) {
    terminal.error("wrong command line", seeds == 0
                                             ? "--seeds must be at least 1: no seed shows nothing"
                                             : "the seeds from --first on must stay below 2^64");
    return ExitCode::kWrongCommandLine;
  }

  Json failures = Json::array();
  std::uint64_t steps = 0;
  Duration time{};
  ProgressLine progress(terminal, context.world.clock);
  for (std::uint64_t done = 0; done < seeds; ++done) {
    const std::uint64_t seed = first + done;
    const sim::Outcome outcome = choice.workload->run({.seed = seed, .bug = choice.bug});
    steps += outcome.steps;
    time += outcome.time;
    if (!outcome.ok) {
      failures.push_back(outcome_json(outcome, seed));
      progress.clear();
      terminal.note(fmt::format("seed {}: {}", seed, outcome.failure));
    }
    progress.update(fmt::format("{} of {} seeds, {} failed", done + 1, seeds, failures.size()));
  }
  progress.clear();

  if (terminal.json()) {
    terminal.print_json({{"workload", choice.workload->name},
                         {"seeds", seeds},
                         {"steps", steps},
                         {"virtual_seconds", std::chrono::duration<double>(time).count()},
                         {"failures", failures}});
  } else {
    terminal.print(fmt::format("{}: {} seeds, {} failed; {} steps, {} of virtual time\n",
                               choice.workload->name, seeds, failures.size(), steps,
                               format_duration(time)));
    if (!failures.empty()) {
      const auto seed = failures.front()["seed"].get<std::uint64_t>();
      terminal.note("read the first: " + replay_command(choice, seed));
    }
  }
  return failures.empty() ? ExitCode::kOk : ExitCode::kFailed;
}

Result<ExitCode> run_sim_replay(const Invocation& invocation, Context& context) {
  const Terminal& terminal = context.terminal;
  OUTLAST_TRY_ASSIGN(const SimChoice choice, read_choice(invocation));
  const std::uint64_t seed = invocation.number_at(0);
  const sim::Outcome outcome =
      choice.workload->run({.seed = seed, .bug = choice.bug, .keep_trace = true});
  if (terminal.json()) {
    Json report = outcome_json(outcome, seed);
    report["workload"] = choice.workload->name;
    report["trace"] = outcome.trace;
    terminal.print_json(report);
  } else {
    std::string story;
    for (const std::string& line : outcome.trace) story += line + "\n";
    terminal.print(story);
    terminal.print(fmt::format("{} seed {}: {}; trace {:016x}, {} steps\n", choice.workload->name,
                               seed, outcome.ok ? "held" : "FAILED, " + outcome.failure,
                               outcome.trace_hash, outcome.steps));
  }
  return outcome.ok ? ExitCode::kOk : ExitCode::kFailed;
}

std::vector<OptionSpec> choice_options() {
  OptionSpec workload{
      .name = "workload", .value_name = "NAME", .help = "what to simulate (default: the first)"};
  OptionSpec bug{.name = "bug", .value_name = "NAME", .help = "switch on a seeded bug"};
  for (const sim::Workload& known : sim::workloads()) {
    workload.words.emplace_back(known.name);
    for (const sim::SeededBug& seeded : known.bugs) bug.words.emplace_back(seeded.name);
  }
  return {workload, bug};
}

}  // namespace

CommandSpec sim_run_command() {
  std::vector<OptionSpec> options = choice_options();
  options.push_back({.name = "seeds",
                     .value_name = "N",
                     .help = fmt::format("how many histories (default: {})", kSeedsDefault),
                     .number = true});
  options.push_back({.name = "first",
                     .value_name = "SEED",
                     .help = "the first seed (default: 1)",
                     .number = true});
  return {
      .path = {"sim", "run"},
      .group = "Simulation",
      .summary = "Look for a history in which something goes wrong",
      .description =
          {"Runs a workload once for each seed, in a simulated world whose machines lose power and "
           "whose disks fail at moments that the seed decides, and checks that nothing that was "
           "acknowledged is lost. The same seed always gives the same history.",
           "Exit code 1 if a seed failed; 'outlast sim replay SEED' then tells its story. With "
           "--bug the workload contains a known mistake, which it must find."},
      .options = options,
      .examples = {{.command = "outlast sim run --seeds 10000", .does = "Look long"},
                   {.command = "outlast sim run --seeds 20 --bug skip-record-sync",
                    .does = "See it find a mistake"}},
      .run = run_sim_run,
  };
}

CommandSpec sim_replay_command() {
  return {
      .path = {"sim", "replay"},
      .group = "Simulation",
      .summary = "Tell the story of one seed",
      .description = {"Runs one seed again and prints everything that happened, one line an event: "
                      "when, who, what. The last line says whether everything held and gives the "
                      "hash of the trace, which is the same on every machine."},
      .positionals = {{.name = "SEED", .help = "The number of the history", .number = true}},
      .options = choice_options(),
      .examples = {{.command = "outlast sim replay 114", .does = "Read a history"},
                   {.command = "outlast sim replay 2 --bug skip-record-sync | tail -20",
                    .does = "See how an acknowledged write is lost"}},
      .run = run_sim_replay,
  };
}

}  // namespace outlast::cli
