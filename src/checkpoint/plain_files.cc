#include "checkpoint/plain_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/compare.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"

namespace outlast::checkpoint {
namespace {

constexpr std::uint32_t kFileMode = 0644;
constexpr std::uint32_t kFolderMode = 0755;

using Kinds = std::map<std::string, ItemKind>;

// Adds the folders above `path` that are not there yet.
Result<void> add_folders(const std::string& path, WallTime when, Kinds& kinds,
                         std::vector<Item>& items) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    const auto [known, is_new] = kinds.emplace(folder, ItemKind::kFolder);
    if (is_new) {
      items.push_back(
          {.kind = ItemKind::kFolder, .path = folder, .mode = kFolderMode, .modified = when});
    } else if (known->second != ItemKind::kFolder) {
      return Error(
          ErrorCode::kAlreadyExists,
          fmt::format("the region '{}' cannot be a file: '{}', in which it would be, is no "
                      "folder",
                      path, folder));
    }
  }
  return {};
}

}  // namespace

Result<LoadedCheckpoint> with_regions_as_files(LoadedCheckpoint checkpoint) {
  Kinds kinds;
  for (const Item* item : checkpoint.all_items()) {
    if (item->kind != ItemKind::kRegion) kinds.emplace(item->path, item->kind);
  }
  const WallTime when = checkpoint.entry.time;
  for (Manifest& manifest : checkpoint.manifests) {
    std::vector<Item> folders;
    for (Item& item : manifest.items) {
      if (item.kind != ItemKind::kRegion) continue;
      item.path = plain_path(checkpoint, manifest, item);
      if (!kinds.emplace(item.path, ItemKind::kFile).second) {
        return Error(ErrorCode::kAlreadyExists,
                     fmt::format("the region '{}' cannot be a file: something else has this name",
                                 item.path));
      }
      item.kind = ItemKind::kFile;
      item.mode = kFileMode;
      item.modified = when;
      OUTLAST_TRY(add_folders(item.path, when, kinds, folders));
    }
    for (Item& folder : folders) manifest.items.push_back(std::move(folder));
    std::ranges::sort(manifest.items, {}, &Item::path);
  }
  return checkpoint;
}

}  // namespace outlast::checkpoint
