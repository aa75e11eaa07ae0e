#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "cli/store_access.h"
#include "store/object_store.h"
#include "store/transfer/copier.h"
#include "store/transfer/lister.h"
#include "store/transfer/source.h"
#include "store/transfer/target.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cli {
namespace {

constexpr std::uint64_t kParallelDefault = 16;

// One end of the copy: a path of this machine, or a place in a store.
struct End {
  OpenPlace place;   // without a store: local
  std::string path;  // local

  bool is_stored() const { return place.store != nullptr; }
  bool names_a_folder() const {
    return is_stored() ? place.key.empty() || place.key.ends_with('/') : path.ends_with('/');
  }
  std::string name() const { return is_stored() ? place.key : path; }
};

Result<End> open_end(const std::string& text, sys::World& world) {
  End end;
  if (is_local(text)) {
    end.path = local_path(text);
    return end;
  }
  OUTLAST_TRY_ASSIGN(end.place, open_place(text, world));
  return end;
}

// Everything that the copies need, and that outlives them.
class CopyJob {
 public:
  CopyJob(End from, End to, Context& context, unsigned parallel)
      : from_(std::move(from)),
        to_(std::move(to)),
        world_(context.world),
        state_folder_(from_.is_stored() ? "" : upload_state_folder(context.world.environment)),
        progress_(context.terminal, context.world.clock),
        started_(context.world.clock.mono_now()),
        copier_(context.world.threads, context.world.clock,
                {.width = {.start = parallel < 4 ? parallel : 4,
                           .least = parallel < 2 ? parallel : 2,
                           .most = parallel}}) {}

  // One file or object.
  Result<void> add_one() {
    std::string target = to_.name();
    const bool into_folder = to_.names_a_folder() || (!to_.is_stored() && is_folder(target));
    if (into_folder) {
      if (!target.empty() && !target.ends_with('/')) target += '/';
      target += sys::base_name(from_.name());
    }
    return add(from_.name(), std::nullopt, target);
  }

  // Everything below the source, by the same names below the target.
  Result<void> add_all() {
    std::string target = to_.name();
    if (!target.empty() && !target.ends_with('/')) target += '/';
    return from_.is_stored() ? add_objects(from_.place.folder(), target)
                             : add_files(from_.path, target);
  }

  Result<store::CopyProgress> finish() {
    Result<store::CopyProgress> done =
        copier_.finish([this](const store::CopyProgress& now) { show(now); }, {});
    progress_.clear();
    return done;
  }

  double seconds() {
    return std::chrono::duration<double>(world_.clock.mono_now() - started_).count();
  }
  std::uint64_t skipped() const { return skipped_; }

 private:
  bool is_folder(const std::string& path) {
    const Result<sys::FileInfo> info = world_.files.stat(path);
    return info && info->type == sys::FileType::kDirectory;
  }

  void show(const store::CopyProgress& now) { progress_.update(progress_text(now, seconds())); }

  Result<void> add(std::string from, std::optional<store::ObjectInfo> object, std::string to) {
    store::Copy copy;
    if (!from_.is_stored()) {
      copy.open_source = [this, from = std::move(from)](const sys::CallContext&) {
        return store::open_file_source(world_.files, from);
      };
    } else {
      copy.open_source =
          [this, from = std::move(from), object = std::move(object)](
              const sys::CallContext& ctx) -> Result<std::unique_ptr<store::Source>> {
        store::ObjectStore& store = *from_.place.store;
        if (object) return store::make_object_source(store, *object);
        OUTLAST_TRY_ASSIGN(store::ObjectInfo info, store.head(from, ctx));
        return store::make_object_source(store, std::move(info));
      };
    }
    copy.make_target = [this, to = std::move(to)] {
      return to_.is_stored()
                 ? store::make_object_target(*to_.place.store, world_.files, to, state_folder_)
                 : store::make_file_target(world_.files, world_.clock, to);
    };
    return copier_.add(std::move(copy), {});
  }

  Result<void> add_objects(const std::string& prefix, const std::string& target) {
    store::Lister lister(*from_.place.store, world_.threads, {.prefix = prefix});
    while (true) {
      OUTLAST_TRY_ASSIGN(std::optional<store::ListPage> page, lister.next({}));
      if (!page) return {};
      for (store::ObjectInfo& object : page->objects) {
        const std::string name = object.key.substr(prefix.size());
        // Only names that every store and file system means the same by: no way out of the folder.
        const Result<void> usable = store::check_key(name);
        if (!usable) {
          return usable.error().while_doing(
              fmt::format("cannot copy {}", from_.place.store->url_of(object.key)));
        }
        std::string key = object.key;
        OUTLAST_TRY(add(std::move(key), std::move(object), target + name));
      }
      show(copier_.progress());
    }
  }

  Result<void> add_files(const std::string& folder, const std::string& target) {
    OUTLAST_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries, world_.files.list(folder));
    for (const sys::DirectoryEntry& entry : entries) {
      const std::string path = sys::join_path(folder, entry.name);
      if (entry.type == sys::FileType::kDirectory) {
        OUTLAST_TRY(add_files(path, target + entry.name + "/"));
      } else if (entry.type == sys::FileType::kFile) {
        OUTLAST_TRY(add(path, std::nullopt, target + entry.name));
      } else {
        ++skipped_;
      }
    }
    show(copier_.progress());
    return {};
  }

  const End from_;
  const End to_;
  sys::World& world_;
  const std::string state_folder_;
  std::uint64_t skipped_ = 0;
  ProgressLine progress_;
  const MonoTime started_;
  store::Copier copier_;  // last: its workers use the rest
};

void report(const store::CopyProgress& done, double seconds, std::uint64_t skipped,
            const Terminal& terminal) {
  if (terminal.json()) {
    terminal.print_json({{"files", done.copies_ended},
                         {"bytes", done.bytes_copied},
                         {"resumed_bytes", done.bytes_resumed},
                         {"skipped", skipped},
                         {"seconds", seconds}});
    return;
  }
  std::string text = fmt::format(
      "{} {} copied, {} in {}", done.copies_ended, done.copies_ended == 1 ? "file" : "files",
      format_bytes_short(done.bytes_copied),
      format_duration(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000))));
  if (done.bytes_resumed > 0) {
    text += fmt::format("; {} were there already", format_bytes_short(done.bytes_resumed));
  }
  terminal.note(text);
  if (skipped > 0) {
    terminal.note(
        fmt::format("{} skipped: symbolic links, pipes and devices are not copied", skipped));
  }
}

Result<ExitCode> run_store_cp(const Invocation& invocation, Context& context) {
  const std::uint64_t parallel = invocation.number("parallel").value_or(kParallelDefault);
  if (parallel < 1 || parallel > 256) {
    context.terminal.error("wrong command line", "--parallel must be 1 to 256");
    return ExitCode::kWrongCommandLine;
  }
  OUTLAST_TRY_ASSIGN(End from, open_end(invocation.positionals[0], context.world));
  OUTLAST_TRY_ASSIGN(End to, open_end(invocation.positionals[1], context.world));
  const bool recursive = invocation.flag("recursive");
  if (!recursive && from.names_a_folder()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} is a folder; copy everything in it with --recursive",
                             printable(invocation.positionals[0])));
  }
  CopyJob job(std::move(from), std::move(to), context, static_cast<unsigned>(parallel));
  OUTLAST_TRY(recursive ? job.add_all() : job.add_one());
  OUTLAST_TRY_ASSIGN(const store::CopyProgress done, job.finish());
  report(done, job.seconds(), job.skipped(), context.terminal);
  return ExitCode::kOk;
}

}  // namespace

CommandSpec store_cp_command() {
  return {
      .path = {"store", "cp"},
      .group = "Stores",
      .summary = "Copy files to, from and between stores",
      .description =
          {"Copies a file or an object, or with --recursive everything below SOURCE, to TARGET. "
           "Large "
           "ones go in parallel parts, as many at once as pay off. A target that ends in '/' is a "
           "folder. Nothing appears half: a file or object gets its name when it is whole.",
           "A large copy that was interrupted goes on where it stopped when the same command is "
           "given again, unless the source has changed. Every part is checked on its way, and the "
           "whole against the checksum that the store keeps, where it keeps one; a mismatch is an "
           "error."},
      .positionals = {{.name = "SOURCE",
                       .help = "A path, s3://…, gs://… or az://…",
                       .completes = Completes::kFiles},
                      {.name = "TARGET",
                       .help = "A path, s3://…, gs://… or az://…",
                       .completes = Completes::kFiles}},
      .options = {{.name = "recursive", .short_name = 'r', .help = "everything below SOURCE"},
                  {.name = "parallel",
                   .value_name = "N",
                   .help = fmt::format("at most so many at once (default: {})", kParallelDefault),
                   .number = true}},
      .examples = {{.command = "outlast store cp model.safetensors s3://my-bucket/models/",
                    .does = "Upload one file"},
                   {.command = "outlast store cp --recursive gs://my-bucket/data ./data",
                    .does = "Fetch a data set"}},
      .run = run_store_cp,
  };
}

}  // namespace outlast::cli
