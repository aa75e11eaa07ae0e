#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "cli/store_access.h"
#include "store/check/root_check.h"
#include "store/object_store.h"

namespace outlast::cli {
namespace {

using store::CheckFinding;
using store::Verdict;

constexpr std::uint64_t kWritersDefault = 16;
constexpr std::uint64_t kRoundsDefault = 25;
constexpr std::size_t kNameColumn = 30;

std::string_view sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return "good";
    case Verdict::kNote:
      return "note";
    case Verdict::kBroken:
      return "BROKEN";
  }
  return "BROKEN";
}

Colour colour(Verdict verdict) {
  if (verdict == Verdict::kGood) return Colour::kGreen;
  return verdict == Verdict::kNote ? Colour::kYellow : Colour::kRed;
}

void print_finding(const Terminal& terminal, const CheckFinding& finding) {
  const std::string left = pad(sign(finding.verdict), 8) + finding.name;
  std::string text = definition(left, finding.words, 0, kNameColumn + 8, 100);
  const std::string_view word = sign(finding.verdict);
  text.replace(0, word.size(), terminal.paint(colour(finding.verdict), word));
  terminal.print(text);
}

Result<ExitCode> run_store_check(const Invocation& invocation, Context& context) {
  const Terminal& terminal = context.terminal;
  const std::uint64_t writers = invocation.number("writers").value_or(kWritersDefault);
  const std::uint64_t rounds = invocation.number("rounds").value_or(kRoundsDefault);
  if (writers < 2 || writers > 256 || rounds < 1 || rounds > 100'000) {
    terminal.error("wrong command line",
                   "--writers must be 2 to 256, and --rounds 1 to 100000: fewer show nothing, more "
                   "are no use");
    return ExitCode::kWrongCommandLine;
  }
  std::string root = invocation.positionals[0];
  if (!root.ends_with('/')) root += '/';
  OUTLAST_TRY_ASSIGN(const OpenPlace place, open_place(root, context.world));
  ProgressLine progress(terminal, context.world.clock);
  OUTLAST_TRY_ASSIGN(const std::vector<CheckFinding> findings,
                     store::check_root({.store = *place.store,
                                        .threads = context.world.threads,
                                        .clock = context.world.clock,
                                        .random = context.world.random},
                                       {.folder = place.folder(),
                                        .writers = static_cast<unsigned>(writers),
                                        .rounds = static_cast<unsigned>(rounds),
                                        .on_check =
                                            [&](std::string_view name) {
                                              progress.update(fmt::format("checking: {}", name));
                                            }},
                                       {}));
  progress.clear();
  const bool broken = std::any_of(findings.begin(), findings.end(), [](const CheckFinding& one) {
    return one.verdict == Verdict::kBroken;
  });
  if (terminal.json()) {
    Json list = Json::array();
    for (const CheckFinding& finding : findings) {
      list.push_back({{"check", finding.name},
                      {"verdict", to_string(finding.verdict)},
                      {"words", finding.words}});
    }
    terminal.print_json({{"url", invocation.positionals[0]},
                         {"kind", place.store->properties().kind},
                         {"safe_as_root", !broken},
                         {"findings", list}});
  } else {
    for (const CheckFinding& finding : findings) print_finding(terminal, finding);
    terminal.print(
        broken ? fmt::format("\n{} is not safe as a root: see what is BROKEN above.\n",
                             printable(invocation.positionals[0]))
               : fmt::format("\n{} is safe as a root.\n", printable(invocation.positionals[0])));
  }
  return broken ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

CommandSpec store_check_command() {
  return {
      .path = {"store", "check"},
      .group = "Stores",
      .summary = "Prove that a bucket or folder is safe to keep jobs in",
      .description =
          {"Writes, reads, lists and removes a few dozen small objects below "
           "URL/outlast-check-<token>/, and lets 16 writers race for them. A store that ignores "
           "conditions, loses a race, answers a range wrongly or lists late is found out before it "
           "can lose a job, and the finding says in words what is missing. Everything that was "
           "written is removed again.",
           "Exit code 0: safe as a root. 1: it is not. A 'note' is something that outlast can do "
           "without."},
      .positionals = {{.name = "URL",
                       .help = "A folder, s3://bucket/prefix, gs://bucket/prefix or "
                               "az://account/container/prefix",
                       .completes = Completes::kFiles}},
      .options = {{.name = "writers",
                   .value_name = "N",
                   .help = fmt::format("how many race (default: {})", kWritersDefault),
                   .number = true},
                  {.name = "rounds",
                   .value_name = "N",
                   .help = fmt::format("how often (default: {})", kRoundsDefault),
                   .number = true}},
      .examples = {{.command = "outlast store check s3://my-bucket/training",
                    .does = "Before the first job"},
                   {.command = "outlast store check --rounds 1000 /mnt/nfs/roots",
                    .does = "Try a file server hard"}},
      .run = run_store_check,
  };
}

}  // namespace outlast::cli
