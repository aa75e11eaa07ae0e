#include "cli/store_access.h"

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "store/open/open_store.h"
#include "store/open/store_url.h"
#include "store/transfer/copier.h"
#include "sys/environment.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"
#include "sys/world.h"

namespace outlast::cli {

std::string OpenPlace::folder() const {
  return key.empty() || key.ends_with('/') ? key : key + "/";
}

Result<OpenPlace> open_place(const std::string& text, sys::World& world) {
  OUTLAST_TRY_ASSIGN(store::StoreUrl url, store::parse_store_url(text));
  OpenPlace place;
  if (url.kind == store::StoreKind::kFolder) {
    // An existing folder is the store itself; anything else is an object in the folder above.
    const Result<sys::FileInfo> info = world.files.stat(url.path);
    const bool is_file = info && info->type != sys::FileType::kDirectory;
    if (is_file || (!info && !url.path.ends_with('/'))) {
      place.key = sys::base_name(url.path);
      url.path = sys::parent_path(url.path);
    }
  } else {
    place.key = std::exchange(url.path, "");
  }
  OUTLAST_TRY_ASSIGN(place.store, store::open_store(url, world));
  return place;
}

bool is_local(std::string_view text) {
  return text.find("://") == std::string_view::npos || text.starts_with("file:///");
}

std::string local_path(std::string_view text) {
  constexpr std::string_view kScheme = "file://";
  return std::string(text.starts_with(kScheme) ? text.substr(kScheme.size()) : text);
}

std::string upload_state_folder(sys::Environment& environment) {
  const std::string cache = environment.get("XDG_CACHE_HOME").value_or("");
  if (cache.starts_with('/')) return sys::join_path(cache, "outlast/uploads");
  const std::string home = environment.get("HOME").value_or("");
  return home.starts_with('/') ? sys::join_path(home, ".cache/outlast/uploads") : "";
}

std::string progress_text(const store::CopyProgress& progress, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(progress.bytes_copied) / seconds : 0;
  return fmt::format("{} of {} files, {} of {}, {}/s", progress.copies_ended, progress.copies_added,
                     format_bytes_short(progress.bytes_copied + progress.bytes_resumed),
                     format_bytes_short(progress.bytes_known),
                     format_bytes_short(static_cast<std::uint64_t>(rate)));
}

}  // namespace outlast::cli
