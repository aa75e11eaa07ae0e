#include "trainers/data_place.h"

#include <fmt/core.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "base/units.h"
#include "cli/program/command_spec.h"
#include "cli/program/progress_line.h"
#include "store/transfer/copier.h"
#include "sys/environment.h"
#include "sys/file_ops.h"
#include "trainers/data/download.h"
#include "trainers/data/fetch.h"

namespace outlast::trainers {

std::string cache_folder(sys::Environment& environment) {
  const std::string cache = environment.get("XDG_CACHE_HOME").value_or("");
  if (!cache.empty()) return sys::join_path(cache, "outlast");
  return sys::join_path(environment.get("HOME").value_or("."), ".cache/outlast");
}

Result<std::string> find_data(const WantedData& wanted, cli::Context& context) {
  cli::ProgressLine line(context.terminal, context.world.clock);
  if (wanted.may_download) {
    if (wanted.dataset.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "--download knows no address for this data: fetch it by hand");
    }
    if (wanted.place.find("://") != std::string::npos) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("--download puts data into a folder, and {} is none", wanted.place));
    }
    OUTLAST_TRY_ASSIGN(const Dataset* dataset, find_dataset(wanted.dataset));
    const auto watch = [&line](const DownloadProgress& progress) {
      line.update(fmt::format("downloading {}: {} of {}", progress.file,
                              format_bytes_short(progress.bytes),
                              format_bytes_short(progress.size)));
    };
    OUTLAST_TRY(download(*dataset, wanted.place, context.world, watch, {}));
  }
  const auto watch = [&line](const store::CopyProgress& progress) {
    line.update(fmt::format("fetching the data: {} of {}",
                            format_bytes_short(progress.bytes_copied),
                            format_bytes_short(progress.bytes_known)));
  };
  return local_data({.from = wanted.place, .cache_folder = cache_folder(context.world.environment)},
                    context.world, watch, {});
}

}  // namespace outlast::trainers
