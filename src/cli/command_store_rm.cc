#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>  // IWYU pragma: keep
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "cli/commands.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/progress_line.h"
#include "cli/program/terminal.h"
#include "cli/program/text_layout.h"
#include "cli/store_access.h"
#include "store/object_store.h"
#include "store/transfer/lister.h"
#include "sys/inbox.h"
#include "sys/threads.h"

namespace outlast::cli {
namespace {

constexpr unsigned kRemovers = 16;

// Removes objects from several threads at once. The first failure ends it.
class Removers {
 public:
  Removers(store::ObjectStore& store, sys::Threads& threads) : store_(store), keys_(threads, 1000) {
    for (unsigned i = 0; i < kRemovers; ++i) {
      threads_.push_back(threads.spawn(fmt::format("remove-{}", i),
                                       [this](const std::stop_token& stop) { work(stop); }));
    }
  }

  Result<void> add(std::string key) {
    OUTLAST_TRY(failure());
    return keys_.post(std::move(key), {});
  }

  Result<void> finish() {
    keys_.close();
    for (const auto& thread : threads_) thread->join();
    return failure();
  }

 private:
  void work(const std::stop_token& stop) {
    while (true) {
      const Result<std::string> key = keys_.receive({.stop = stop});
      if (!key) return;
      if (!failure()) continue;  // empties the inbox, so that add() does not wait for ever
      const Result<void> removed = store_.remove(*key, {.stop = stop});
      if (removed) continue;
      const MutexLock lock(mutex_);
      if (!failure_) failure_ = removed.error();
    }
  }

  Result<void> failure() {
    const MutexLock lock(mutex_);
    if (failure_) return *failure_;
    return {};
  }

  store::ObjectStore& store_;
  sys::Inbox<std::string> keys_;
  Mutex mutex_;
  std::optional<Error> failure_ OUTLAST_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<sys::Thread>> threads_;
};

Result<std::uint64_t> remove_all(const OpenPlace& place, Context& context) {
  std::uint64_t count = 0;
  ProgressLine progress(context.terminal, context.world.clock);
  Removers removers(*place.store, context.world.threads);
  store::Lister lister(*place.store, context.world.threads, {.prefix = place.folder()});
  while (true) {
    OUTLAST_TRY_ASSIGN(const std::optional<store::ListPage> page, lister.next({}));
    if (!page) break;
    for (const store::ObjectInfo& object : page->objects) {
      OUTLAST_TRY(removers.add(object.key));
      progress.update(fmt::format("{} removed", ++count));
    }
  }
  OUTLAST_TRY(removers.finish());
  return count;
}

Result<ExitCode> run_store_rm(const Invocation& invocation, Context& context) {
  const std::string& url = invocation.positionals[0];
  OUTLAST_TRY_ASSIGN(const OpenPlace place, open_place(url, context.world));
  std::uint64_t count = 1;
  if (invocation.flag("recursive")) {
    OUTLAST_TRY_ASSIGN(count, remove_all(place, context));
  } else {
    if (place.key.empty() || place.key.ends_with('/')) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} is a folder; remove everything in it with --recursive", printable(url)));
    }
    // A typing mistake should not look like success.
    OUTLAST_TRY(place.store->head(place.key, {}));
    OUTLAST_TRY(place.store->remove(place.key, {}));
  }
  if (context.terminal.json()) {
    context.terminal.print_json({{"removed", count}});
  } else {
    context.terminal.note(fmt::format("{} {} removed", count, count == 1 ? "object" : "objects"));
  }
  return ExitCode::kOk;
}

}  // namespace

CommandSpec store_rm_command() {
  return {
      .path = {"store", "rm"},
      .group = "Stores",
      .summary = "Remove objects",
      .description = {"Removes one object, or with --recursive everything below URL. There is no "
                      "way back, and no question is asked."},
      .positionals = {{.name = "URL",
                       .help = "The object or folder: a path, s3://…, gs://… or az://…",
                       .completes = Completes::kFiles}},
      .options = {{.name = "recursive", .short_name = 'r', .help = "everything below URL"}},
      .examples = {{.command = "outlast store rm --recursive s3://my-bucket/training/jobs/old/",
                    .does = "Remove what an old job left"}},
      .run = run_store_rm,
  };
}

}  // namespace outlast::cli
