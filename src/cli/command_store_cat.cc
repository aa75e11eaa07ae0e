#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/result.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "cli/store_access.h"
#include "store/object_store.h"

namespace outlast::cli {
namespace {

// "100-199", both ends included, as HTTP has it, or "100-" to the end.
Result<store::ByteRange> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number<std::uint64_t>(text.substr(0, dash));
  const std::string_view rest =
      dash == std::string_view::npos ? std::string_view() : text.substr(dash + 1);
  const auto last =
      rest.empty() ? std::optional(UINT64_MAX - 1) : parse_number<std::uint64_t>(rest);
  if (dash == std::string_view::npos || !first || !last || *last < *first) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("--range {} is not such as 0-99 or 100-", printable(text)));
  }
  return store::ByteRange{.offset = *first, .length = *last - *first + 1};
}

Result<ExitCode> run_store_cat(const Invocation& invocation, Context& context) {
  store::GetOptions options;
  if (const std::optional<std::string> range = invocation.value("range")) {
    const Result<store::ByteRange> parsed = parse_range(*range);
    if (!parsed) {
      context.terminal.error("wrong command line", parsed.error().to_string());
      return ExitCode::kWrongCommandLine;
    }
    options.range = *parsed;
  }
  OUTLAST_TRY_ASSIGN(const OpenPlace place, open_place(invocation.positionals[0], context.world));
  OUTLAST_TRY(
      place.store->get(place.key, options,
                       [&context](const store::ObjectInfo&, BytesView piece) -> Result<void> {
                         context.terminal.print(as_text(piece));
                         return context.world.console.out_status();
                       },
                       {}));
  return ExitCode::kOk;
}

}  // namespace

CommandSpec store_cat_command() {
  return {
      .path = {"store", "cat"},
      .group = "Stores",
      .summary = "Write an object to standard output",
      .description =
          {"Writes the object, or a part of it, to standard output as it comes. Where the "
           "store keeps a checksum, a whole object is compared with it: exit code 1 if "
           "the bytes were wrong."},
      .positionals = {{.name = "URL",
                       .help = "The object: a path, s3://…, gs://… or az://…",
                       .completes = Completes::kFiles}},
      .options = {{.name = "range",
                   .value_name = "FIRST-LAST",
                   .help =
                       "only these bytes, counted from 0, both included; LAST may be left out"}},
      .examples = {{.command = "outlast store cat gs://my-bucket/training/jobs/j1/spec.json | jq .",
                    .does = "Read a small object"}},
      .run = run_store_cat,
  };
}

}  // namespace outlast::cli
