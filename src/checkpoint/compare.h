#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/item_reader.h"
#include "checkpoint/loaded_checkpoint.h"
#include "checkpoint/manifest.h"

// What has changed from one checkpoint to another. Pure: the manifests tell.
namespace outlast::checkpoint {

struct ItemChange {
  std::string path = {};   // as plain_path() has it
  PlacedItem before = {};  // without an item: it was added
  PlacedItem after = {};   // without an item: it was removed
  bool kind_differs = false;
  bool content_differs = false;  // also of a symlink and of a second name: where it leads to
  bool mode_differs = false;
  // Of the content after it: in chunks that were not in the one before. All of it if it was added.
  std::uint64_t changed_bytes = 0;

  bool is_added() const { return before.item == nullptr; }
  bool is_removed() const { return after.item == nullptr; }
};

// In the order of their paths; what is the same but for its times is left out. The checkpoints must
// outlive it.
std::vector<ItemChange> compare(const LoadedCheckpoint& before, const LoadedCheckpoint& after);

// By what an item is known in the whole checkpoint: its path; a region, whose name belongs to its
// rank alone, has "rank-<n>/" before it if several ranks have saved.
std::string plain_path(const LoadedCheckpoint& checkpoint, const Manifest& manifest,
                       const Item& item);

}  // namespace outlast::checkpoint
