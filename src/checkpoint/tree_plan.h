#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "checkpoint/manifest.h"

namespace outlast::checkpoint {

struct PlannedFile {
  const Item* item = nullptr;
  std::uint32_t manifest = 0;                 // that its chunks are in
  std::vector<const Item*> other_names = {};  // hard links to it
  std::uint64_t stored_bytes = 0;             // on the disk: without its chunks of zeros
};

struct PlannedFolder {
  std::string_view path = {};
  const Item* item = nullptr;  // nullptr: only because something is in it
};

// What a folder is to hold: the items of all manifests of a checkpoint, by kind and each kind in
// the order of the paths. Points into the manifests, which must outlive it. Regions are left out.
// Immutable once made.
struct TreePlan {
  std::vector<PlannedFolder> folders = {};  // all that there must be, each after the one it is in
  std::vector<PlannedFile> files = {};
  std::vector<const Item*> symlinks = {};
  std::vector<const Item*> hardlinks = {};
  std::unordered_set<std::string_view> paths = {};  // of everything; only to look things up
};

// kCorrupt if an item could be written outside of the folder, through a symlink, over a file of
// ours, or not at all; kInvalidArgument if two manifests have a file of the same path.
Result<TreePlan> plan_tree(std::span<const Manifest> manifests);

}  // namespace outlast::checkpoint
