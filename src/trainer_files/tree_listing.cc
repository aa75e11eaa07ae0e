#include "trainer_files/tree_listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/call_context.h"
#include "sys/file_ops.h"
#include "sys/file_system.h"

namespace outlast::trainer_files {
namespace {

constexpr int kLooksMax = 3;
constexpr int kLinksMax = 8;  // one to the next

struct NameRow {
  std::string_view name;
  NotListed reason;
};

// Folders that no trainer writes checkpoints to.
constexpr NameRow kFoldersNotListed[] = {
    {".git", NotListed::kVersionControl},      {".hg", NotListed::kVersionControl},
    {".svn", NotListed::kVersionControl},      {"__pycache__", NotListed::kCache},
    {".pytest_cache", NotListed::kCache},      {".mypy_cache", NotListed::kCache},
    {".ipynb_checkpoints", NotListed::kCache},  // of notebooks, not of models
    {"node_modules", NotListed::kNodeModules},
};

// What is in a folder that is a virtual environment, of Python's own kind or of conda's.
constexpr std::string_view kEnvironmentSigns[] = {"pyvenv.cfg", "conda-meta"};

bool is_name_of_ours(std::string_view name) {
  return name.starts_with(".outlast-") || name.ends_with(".outlast-part") ||
         name.ends_with(".outlast-parts");
}

std::optional<NotListed> reason_by_name(std::string_view name, sys::FileType type) {
  if (is_name_of_ours(name)) return NotListed::kOurOwn;
  if (type == sys::FileType::kOther) return NotListed::kSpecial;
  if (type != sys::FileType::kDirectory) return std::nullopt;
  for (const NameRow& row : kFoldersNotListed) {
    if (row.name == name) return row.reason;
  }
  return std::nullopt;
}

bool is_environment(const std::vector<sys::DirectoryEntry>& names) {
  return std::ranges::any_of(names, [](const sys::DirectoryEntry& entry) {
    return std::ranges::find(kEnvironmentSigns, entry.name) != std::end(kEnvironmentSigns);
  });
}

// What a path leads to in the end; nullopt if that is nothing.
std::optional<sys::FileInfo> stat_past_links(sys::FileSystem& files, std::string path) {
  for (int links = 0; links <= kLinksMax; ++links) {
    const auto info = files.stat(path);
    if (!info) return std::nullopt;
    if (info->type != sys::FileType::kSymlink) return *info;
    const auto target = files.read_symlink(path);
    if (!target) return std::nullopt;
    path = sys::join_path(sys::parent_path(path), *target);
  }
  return std::nullopt;
}

// One look at the tree.
class Lister {
 public:
  Lister(sys::FileSystem& files, const std::string& folder, const ListingOptions& options,
         const sys::CallContext& ctx)
      : files_(files), folder_(folder), options_(options), ctx_(ctx) {
    if (!options.outlast_root.empty()) root_ = stat_past_links(files, options.outlast_root);
  }

  Result<TreeListing> look() {
    OUTLAST_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> names, files_.list(folder_));
    OUTLAST_TRY(add_names("", names));
    // A loop, not a recursion: how deep a tree is, others decide.
    while (!folders_.empty()) {
      const std::string path = std::move(folders_.back());
      folders_.pop_back();
      OUTLAST_TRY(add_folder(path));
    }
    TreeListing listing(folder_, std::move(entries_));
    listing.not_listed = std::move(not_listed_);
    listing.cut_off = cut_off_;
    listing.disturbed = disturbed_;
    return listing;
  }

 private:
  Result<void> add_folder(const std::string& path) {
    const auto names = files_.list(sys::join_path(folder_, path));
    if (!names) {
      note_failure(names.error());
      return {};
    }
    if (is_environment(*names)) {
      ++not_listed_[NotListed::kVirtualEnvironment];
      return {};
    }
    return add_names(path + "/", *names);
  }

  Result<void> add_names(const std::string& prefix, const std::vector<sys::DirectoryEntry>& names) {
    if (ctx_.stop.stop_requested()) {
      return Error(ErrorCode::kCancelled, fmt::format("look at '{}': was asked to stop", folder_));
    }
    for (const sys::DirectoryEntry& entry : names) {
      if (entries_.size() >= options_.entries_max) {
        cut_off_ = true;
        folders_.clear();
        return {};
      }
      add_name(prefix + entry.name, entry);
    }
    return {};
  }

  void add_name(const std::string& path, const sys::DirectoryEntry& entry) {
    if (const auto reason = reason_by_name(entry.name, entry.type)) {
      ++not_listed_[*reason];
      return;
    }
    const std::string full_path = sys::join_path(folder_, path);
    const auto info = files_.stat(full_path);
    if (!info) return note_failure(info.error());
    if (info->type == sys::FileType::kOther) {
      ++not_listed_[NotListed::kSpecial];
      return;
    }
    ListedEntry listed{.path = path,
                       .type = info->type,
                       .size = info->type == sys::FileType::kFile ? info->size : 0,
                       .modified = info->modified,
                       .changed = info->changed,
                       .device = info->device,
                       .inode = info->inode,
                       .links = info->links};
    if (info->type == sys::FileType::kSymlink) {
      const auto target = files_.read_symlink(full_path);
      if (!target) return note_failure(target.error());
      listed.target = *target;
    }
    if (info->type == sys::FileType::kDirectory) {
      if (root_ && root_->device == info->device && root_->inode == info->inode) {
        ++not_listed_[NotListed::kOutlastRoot];
        return;
      }
      folders_.push_back(path);
    }
    entries_.push_back(std::move(listed));
  }

  void note_failure(const Error& error) {
    // Whatever else went wrong may be over at the next look, and may hide a part of a state.
    if (error.code() == ErrorCode::kPermissionDenied) {
      ++not_listed_[NotListed::kUnreadable];
    } else {
      disturbed_ = true;
    }
  }

  sys::FileSystem& files_;
  const std::string& folder_;
  const ListingOptions& options_;
  const sys::CallContext& ctx_;
  std::optional<sys::FileInfo> root_;
  std::vector<ListedEntry> entries_;
  std::vector<std::string> folders_;  // still to be looked into
  std::map<NotListed, std::size_t> not_listed_;
  bool cut_off_ = false;
  bool disturbed_ = false;
};

}  // namespace

bool is_unchanged(const ListedEntry& before, const ListedEntry& after) {
  if (before.type != after.type) return false;
  return before.type == sys::FileType::kDirectory || before == after;
}

std::string_view to_string(NotListed reason) {
  switch (reason) {
    case NotListed::kVersionControl:
      return "version control";
    case NotListed::kCache:
      return "caches of tools";
    case NotListed::kVirtualEnvironment:
      return "virtual environments";
    case NotListed::kNodeModules:
      return "node_modules";
    case NotListed::kOutlastRoot:
      return "the root of outlast";
    case NotListed::kOurOwn:
      return "unfinished files of outlast";
    case NotListed::kSpecial:
      return "sockets, pipes and devices";
    case NotListed::kUnreadable:
      return "what could not be read";
  }
  return "";
}

TreeListing::TreeListing(std::string folder, std::vector<ListedEntry> entries)
    : folder_(std::move(folder)), entries_(std::move(entries)) {
  std::ranges::sort(entries_, {}, &ListedEntry::path);
}

std::string TreeListing::full_path(std::string_view path) const {
  return path.empty() ? folder_ : sys::join_path(folder_, path);
}

const ListedEntry* TreeListing::find(std::string_view path) const {
  const auto at = std::ranges::lower_bound(entries_, path, {}, &ListedEntry::path);
  return at != entries_.end() && at->path == path ? &*at : nullptr;
}

std::span<const ListedEntry> TreeListing::below(std::string_view folder) const {
  if (folder.empty()) return entries_;
  // Everything that begins with "folder/" is less than "folder0", the next character.
  const auto begin =
      std::ranges::lower_bound(entries_, fmt::format("{}/", folder), {}, &ListedEntry::path);
  const auto end = std::ranges::lower_bound(begin, entries_.end(), fmt::format("{}0", folder), {},
                                            &ListedEntry::path);
  return {begin, end};
}

bool is_never_listed(std::string_view folder_name) {
  return reason_by_name(folder_name, sys::FileType::kDirectory).has_value();
}

Result<TreeListing> list_tree(sys::FileSystem& files, const std::string& folder,
                              const ListingOptions& options, const sys::CallContext& ctx) {
  for (int looks = 1;; ++looks) {
    OUTLAST_TRY_ASSIGN(TreeListing listing, Lister(files, folder, options, ctx).look());
    if (!listing.disturbed || looks == kLooksMax) return listing;
  }
}

ListingDifference difference(const TreeListing& before, const TreeListing& after) {
  ListingDifference found;
  auto old = before.entries().begin();
  auto now = after.entries().begin();
  while (old != before.entries().end() || now != after.entries().end()) {
    if (now == after.entries().end() || (old != before.entries().end() && old->path < now->path)) {
      found.removed.push_back((old++)->path);
    } else if (old == before.entries().end() || now->path < old->path) {
      found.created.push_back((now++)->path);
    } else {
      if (!is_unchanged(*old, *now)) found.changed.push_back(now->path);
      ++old;
      ++now;
    }
  }
  return found;
}

}  // namespace outlast::trainer_files
