#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sys/call_context.h"
#include "sys/file_system.h"

// What is in a folder tree at one moment, without what is never a checkpoint.
namespace outlast::trainer_files {

struct ListedEntry {
  std::string path = {};  // from the listed folder, "out/ckpt.pt"
  sys::FileType type = sys::FileType::kFile;
  std::uint64_t size = 0;  // of a file
  WallTime modified = {};
  WallTime changed = {};
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t links = 1;
  std::string target = {};  // of a symlink

  friend bool operator==(const ListedEntry&, const ListedEntry&) = default;
};

// Whether nothing shows that it was touched between two listings. A folder is what is in it, and
// that is listed by itself: its own times do not count.
bool is_unchanged(const ListedEntry& before, const ListedEntry& after);

// Why something is not looked at.
enum class NotListed {
  kVersionControl,
  kCache,
  kVirtualEnvironment,
  kNodeModules,
  kOutlastRoot,
  kOurOwn,
  kSpecial,
  kUnreadable,
};
// "version control", "sockets, pipes and devices", …
std::string_view to_string(NotListed reason);

// The entries by path, each once. Immutable after construction, apart from being assigned to.
class TreeListing {
 public:
  TreeListing() = default;
  // In any order; no path may be there twice.
  TreeListing(std::string folder, std::vector<ListedEntry> entries);

  // The folder that was listed, as it was given.
  const std::string& folder() const { return folder_; }
  // Where an entry is for sys::FileSystem.
  std::string full_path(std::string_view path) const;

  std::span<const ListedEntry> entries() const { return entries_; }  // in the order of the paths
  // nullptr if there is none. Good as long as this listing.
  const ListedEntry* find(std::string_view path) const;
  // Everything in a folder and its folders; of "" everything.
  std::span<const ListedEntry> below(std::string_view folder) const;

  // How many folders or files were left out, by reason. What is in a folder is not counted.
  std::map<NotListed, std::size_t> not_listed = {};
  // There is more than the listing may hold: what is missing is unknown.
  bool cut_off = false;
  // Things vanished or moved during each look, so that something may be missing, or be there under
  // its old name.
  bool disturbed = false;

 private:
  std::string folder_;
  std::vector<ListedEntry> entries_;
};

struct ListingOptions {
  std::size_t entries_max = 200'000;
  // Where outlast keeps its jobs, by any path that leads there; nothing if it is not a folder here.
  std::string outlast_root = {};
};

// Looks at each name once: one list for each folder, one stat for each name. Symlinks are not
// followed, except `folder` itself. When things vanish during the look, it looks again, at most
// twice. Fails if `folder` cannot be listed, or kCancelled; what cannot be read below it is left
// out and counted.
Result<TreeListing> list_tree(sys::FileSystem& files, const std::string& folder,
                              const ListingOptions& options, const sys::CallContext& ctx);

// Whether a folder of this name is never looked into: for who watches the same tree.
bool is_never_listed(std::string_view folder_name);

struct ListingDifference {
  std::vector<std::string> created = {};
  std::vector<std::string> changed = {};  // as is_unchanged() denies
  std::vector<std::string> removed = {};

  friend bool operator==(const ListingDifference&, const ListingDifference&) = default;
};
// Each in the order of the paths.
ListingDifference difference(const TreeListing& before, const TreeListing& after);

}  // namespace outlast::trainer_files
