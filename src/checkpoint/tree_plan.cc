#include "checkpoint/tree_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "checkpoint/codec.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"
#include "checkpoint/tree_names.h"

namespace outlast::checkpoint {
namespace {

Error corrupt(std::string_view path, std::string_view why) {
  return {ErrorCode::kCorrupt,
          fmt::format("the checkpoint cannot be restored: '{}' {}", path, why)};
}

bool has_our_name(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    if (is_our_name(path.substr(0, slash))) return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

class Planner {
 public:
  explicit Planner(std::span<const Manifest> manifests) : manifests_(manifests) {}

  Result<TreePlan> run() {
    std::vector<Entry> entries;
    for (std::uint32_t number = 0; number < manifests_.size(); ++number) {
      for (const Item& item : manifests_[number].items) {
        if (item.kind != ItemKind::kRegion) entries.push_back({.item = &item, .manifest = number});
      }
    }
    std::ranges::sort(entries, {}, [](const Entry& entry) {
      return std::pair(std::string_view(entry.item->path), entry.manifest);
    });
    for (const Entry& entry : entries) OUTLAST_TRY(add(entry));
    std::ranges::sort(plan_.folders, {}, &PlannedFolder::path);
    for (const Entry& entry : entries) {
      if (entry.item->kind == ItemKind::kHardlink) OUTLAST_TRY(join(entry));
    }
    plan_.paths.reserve(known_.size());
    for (const auto& [path, known] : known_) plan_.paths.insert(path);
    return std::move(plan_);
  }

 private:
  struct Entry {
    const Item* item = nullptr;
    std::uint32_t manifest = 0;
  };
  struct Known {
    ItemKind kind = ItemKind::kFolder;
    std::uint32_t manifest = 0;
    std::size_t index = 0;  // of a file, in the plan
  };

  Result<void> add(const Entry& entry) {
    const Item& item = *entry.item;
    if (!is_safe_path(item.path)) return corrupt(item.path, "is not a path inside of a folder");
    if (has_our_name(item.path)) return corrupt(item.path, "has a name that only outlast may use");
    const auto [known, added] = known_.try_emplace(
        item.path, Known{.kind = item.kind, .manifest = entry.manifest, .index = 0});
    if (!added) return check_twice(entry, known->second);
    OUTLAST_TRY(add_folders_above(item.path));
    switch (item.kind) {
      case ItemKind::kFile:
        known_.at(item.path).index = plan_.files.size();
        return add_file(entry);
      case ItemKind::kFolder:
        plan_.folders.push_back({.path = item.path, .item = &item});
        break;
      case ItemKind::kSymlink:
        if (item.target.empty() || item.target.find('\0') != std::string::npos) {
          return corrupt(item.path, "is a symlink that leads to nothing");
        }
        plan_.symlinks.push_back(&item);
        break;
      case ItemKind::kHardlink:
        plan_.hardlinks.push_back(&item);
        break;
      case ItemKind::kRegion:
        break;
    }
    return {};
  }

  // Those come first in the order, if they are items.
  Result<void> add_folders_above(std::string_view path) {
    for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos;
         slash = path.rfind('/')) {
      path = path.substr(0, slash);
      const auto [known, added] = known_.try_emplace(path);
      if (!added) {
        if (known->second.kind == ItemKind::kFolder) return {};
        return corrupt(path, "has something in it, and is no folder");
      }
      plan_.folders.push_back({.path = path});
    }
    return {};
  }

  Result<void> add_file(const Entry& entry) {
    const Item& item = *entry.item;
    const Manifest& manifest = manifests_[entry.manifest];
    PlannedFile file{.item = &item, .manifest = entry.manifest};
    std::uint64_t bytes = 0;
    for (const std::uint32_t index : item.chunks) {
      if (index >= manifest.chunks.size()) return corrupt(item.path, "has a chunk that is unknown");
      const StoredChunk& chunk = manifest.chunks[index].chunk;
      bytes += chunk.raw_bytes;
      if (chunk.codec != CodecKind::kZero) file.stored_bytes += chunk.raw_bytes;
    }
    if (bytes != item.size) return corrupt(item.path, "is not as long as its chunks");
    plan_.files.push_back(std::move(file));
    return {};
  }

  Result<void> join(const Entry& entry) {
    const Item& item = *entry.item;
    const auto target = known_.find(item.target);
    if (target == known_.end() || target->second.kind != ItemKind::kFile ||
        target->second.manifest != entry.manifest) {
      return corrupt(item.path, "is a second name of a file that is not there");
    }
    plan_.files[target->second.index].other_names.push_back(&item);
    return {};
  }

  Result<void> check_twice(const Entry& entry, const Known& known) const {
    const Item& item = *entry.item;
    if (item.kind == ItemKind::kFolder && known.kind == ItemKind::kFolder) return {};
    if (entry.manifest == known.manifest) return corrupt(item.path, "is there twice");
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("ranks {} and {} have both saved a '{}', which cannot be restored into "
                    "one folder",
                    manifests_[known.manifest].rank, manifests_[entry.manifest].rank, item.path));
  }

  const std::span<const Manifest> manifests_;
  TreePlan plan_;
  std::unordered_map<std::string_view, Known> known_;  // only to look things up
};

}  // namespace

Result<TreePlan> plan_tree(std::span<const Manifest> manifests) {
  return Planner(manifests).run();
}

}  // namespace outlast::checkpoint
