#include "trainer_files/symlink_end.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/file_system.h"
#include "trainer_files/layouts.h"
#include "trainer_files/tree_listing.h"

namespace outlast::trainer_files {
namespace {

constexpr int kSymlinksMax = 8;  // one to the next

// One step of the way, as the listing would call it; nullopt if it leads outside.
std::optional<std::string> resolve(const TreeListing& listing, const ListedEntry& symlink) {
  std::string target = symlink.target;
  if (target.starts_with('/')) {
    const std::string prefix = listing.folder() + "/";
    if (!target.starts_with(prefix)) return std::nullopt;
    target.erase(0, prefix.size());
  } else {
    target = path_in(folder_of(symlink.path), target);
  }
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < target.size();) {
    const std::size_t end = std::min(target.find('/', at), target.size());
    const std::string_view name = std::string_view(target).substr(at, end - at);
    at = end + 1;
    if (name == "..") {
      if (names.empty()) return std::nullopt;
      names.pop_back();
    } else if (!name.empty() && name != ".") {
      names.push_back(name);
    }
  }
  std::string path;
  for (const std::string_view name : names) path = path_in(path, name);
  return path;
}

}  // namespace

std::string end_of_symlink(const TreeListing& listing, const ListedEntry& symlink) {
  const ListedEntry* at = &symlink;
  for (int i = 0; i < kSymlinksMax; ++i) {
    const std::optional<std::string> path = resolve(listing, *at);
    if (!path) return "";
    at = listing.find(*path);
    if (at == nullptr || at->type != sys::FileType::kSymlink) return *path;
  }
  return "";
}

}  // namespace outlast::trainer_files
