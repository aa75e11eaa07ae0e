#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "cli/store_access.h"
#include "store/object_store.h"
#include "store/transfer/lister.h"

namespace outlast::cli {
namespace {

struct Totals {
  std::uint64_t objects = 0;
  std::uint64_t folders = 0;
  std::uint64_t bytes = 0;
};

std::string object_line(const Terminal& terminal, const store::ObjectInfo& object,
                        std::string_view name, const store::ObjectStore& store) {
  if (terminal.json()) {
    return canonical_json({{"url", store.url_of(object.key)},
                           {"size", object.size},
                           {"version", object.version},
                           {"modified", format_rfc3339(object.modified)}}) +
           "\n";
  }
  return fmt::format("{:>14}  {}Z  {}\n", object.size,
                     format_rfc3339(object.modified).substr(0, 19), printable(name));
}

std::string folder_line(const Terminal& terminal, const std::string& folder, std::string_view name,
                        const store::ObjectStore& store) {
  if (terminal.json()) {
    return canonical_json({{"url", store.url_of(folder)}, {"folder", true}}) + "\n";
  }
  return fmt::format("{:>14}  {:20}  {}\n", "folder", "", printable(name));
}

// Prints everything below `folder`, page by page as it comes.
Result<Totals> print_listing(const OpenPlace& place, const std::string& folder, bool recursive,
                             Context& context) {
  Totals totals;
  store::Lister lister(*place.store, context.world.threads,
                       {.prefix = folder, .folders = !recursive});
  while (true) {
    OUTLAST_TRY_ASSIGN(const std::optional<store::ListPage> page, lister.next({}));
    if (!page) return totals;
    std::string text;
    // Objects and folders are each in order; together they are shown in order, too.
    auto next_folder = page->folders.begin();
    const auto folders_before = [&](const std::string* key) {
      for (; next_folder != page->folders.end() && (key == nullptr || *next_folder < *key);
           ++next_folder) {
        text += folder_line(context.terminal, *next_folder, next_folder->substr(folder.size()),
                            *place.store);
      }
    };
    for (const store::ObjectInfo& object : page->objects) {
      folders_before(&object.key);
      text += object_line(context.terminal, object, object.key.substr(folder.size()), *place.store);
      totals.bytes += object.size;
    }
    folders_before(nullptr);
    totals.objects += page->objects.size();
    totals.folders += page->folders.size();
    context.terminal.print(text);
    // Whoever reads the output may have gone.
    OUTLAST_TRY(context.world.console.out_status());
  }
}

Result<ExitCode> run_store_ls(const Invocation& invocation, Context& context) {
  OUTLAST_TRY_ASSIGN(const OpenPlace place, open_place(invocation.positionals[0], context.world));
  OUTLAST_TRY_ASSIGN(const Totals totals,
                     print_listing(place, place.folder(), invocation.flag("recursive"), context));
  if (totals.objects + totals.folders == 0 && !place.key.empty() && !place.key.ends_with('/')) {
    OUTLAST_TRY_ASSIGN(const store::ObjectInfo object, place.store->head(place.key, {}));
    context.terminal.print(object_line(context.terminal, object,
                                       object.key.substr(object.key.rfind('/') + 1), *place.store));
    return ExitCode::kOk;
  }
  context.terminal.note(fmt::format(
      "{} {}, {}{}", totals.objects, totals.objects == 1 ? "object" : "objects",
      format_bytes_short(totals.bytes),
      totals.folders > 0 ? fmt::format("; {} folders", totals.folders) : std::string()));
  return ExitCode::kOk;
}

}  // namespace

CommandSpec store_ls_command() {
  return {
      .path = {"store", "ls"},
      .group = "Stores",
      .summary = "List objects",
      .description = {"Lists what is directly below URL, or with --recursive everything below it: "
                      "size in bytes, time of the last write, name. With --json one object to a "
                      "line."},
      .positionals = {{.name = "URL",
                       .help = "A folder or an object: a path, s3://…, gs://… or az://…",
                       .completes = Completes::kFiles}},
      .options = {{.name = "recursive", .short_name = 'r', .help = "go into folders"}},
      .examples = {{.command = "outlast store ls s3://my-bucket/training/jobs/",
                    .does = "See which jobs a root has"}},
      .run = run_store_ls,
  };
}

}  // namespace outlast::cli
