#include "checkpoint/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "checkpoint/item_reader.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/pack.h"

namespace outlast::checkpoint {
namespace {

std::map<std::string, PlacedItem> by_path(const LoadedCheckpoint& checkpoint) {
  std::map<std::string, PlacedItem> items;
  for (const Manifest& manifest : checkpoint.manifests) {
    for (const Item& item : manifest.items) {
      items.try_emplace(plain_path(checkpoint, manifest, item),
                        PlacedItem{.manifest = &manifest, .item = &item});
    }
  }
  return items;
}

std::uint64_t bytes_not_in(const PlacedItem& before, const PlacedItem& after) {
  std::set<Sha256Digest> names;
  if (before.item != nullptr) {
    for (std::size_t i = 0; i < before.item->chunks.size(); ++i) {
      names.insert(before.chunk(i).chunk.name);
    }
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < after.item->chunks.size(); ++i) {
    const StoredChunk& chunk = after.chunk(i).chunk;
    if (!names.contains(chunk.name)) bytes += chunk.raw_bytes;
  }
  return bytes;
}

bool same_content(const PlacedItem& a, const PlacedItem& b) {
  if (a.item->size != b.item->size || a.item->target != b.item->target) return false;
  const auto name_in = [](const PlacedItem& placed) {
    return [&placed](std::uint32_t number) -> const Sha256Digest& {
      return placed.manifest->chunks[number].chunk.name;
    };
  };
  return std::ranges::equal(a.item->chunks, b.item->chunks, {}, name_in(a), name_in(b));
}

ItemChange compare_items(const std::string& path, const PlacedItem& before,
                         const PlacedItem& after) {
  ItemChange change = {.path = path, .before = before, .after = after};
  change.kind_differs = before.item->kind != after.item->kind;
  change.content_differs = change.kind_differs || !same_content(before, after);
  change.mode_differs = before.item->mode != after.item->mode;
  if (change.content_differs) change.changed_bytes = bytes_not_in(before, after);
  return change;
}

}  // namespace

std::string plain_path(const LoadedCheckpoint& checkpoint, const Manifest& manifest,
                       const Item& item) {
  if (item.kind != ItemKind::kRegion || checkpoint.manifests.size() == 1) return item.path;
  return fmt::format("rank-{}/{}", manifest.rank, item.path);
}

std::vector<ItemChange> compare(const LoadedCheckpoint& before, const LoadedCheckpoint& after) {
  const std::map<std::string, PlacedItem> items_before = by_path(before);
  const std::map<std::string, PlacedItem> items_after = by_path(after);
  std::vector<ItemChange> changes;
  auto old_item = items_before.begin();
  auto new_item = items_after.begin();
  while (old_item != items_before.end() || new_item != items_after.end()) {
    const bool takes_old = new_item == items_after.end() ||
                           (old_item != items_before.end() && old_item->first <= new_item->first);
    const bool takes_new = old_item == items_before.end() ||
                           (new_item != items_after.end() && new_item->first <= old_item->first);
    if (takes_old && takes_new) {
      ItemChange change = compare_items(old_item->first, old_item->second, new_item->second);
      if (change.content_differs || change.mode_differs) changes.push_back(std::move(change));
    } else if (takes_old) {
      changes.push_back({.path = old_item->first, .before = old_item->second});
    } else {
      changes.push_back({.path = new_item->first,
                         .after = new_item->second,
                         .changed_bytes = bytes_not_in({}, new_item->second)});
    }
    if (takes_old) ++old_item;
    if (takes_new) ++new_item;
  }
  return changes;
}

}  // namespace outlast::checkpoint
