// The names on a Disk: paths, folders, links.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "sim/disk.h"
#include "sys/file_system.h"

namespace outlast::sim {
namespace {

constexpr int kSymlinksMax = 40;  // in one path; Linux's number

Error no_such(const std::string& path) {
  return {ErrorCode::kNotFound, fmt::format("{}: No such file or directory", path)};
}
Error exists(const std::string& path) {
  return {ErrorCode::kAlreadyExists, fmt::format("{}: File exists", path)};
}
Error wrong_type(const std::string& path, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("{}: {}", path, what)};
}

// The names in a path go before those that are still to be walked.
void prepend_names(std::string_view path, std::deque<std::string>& names) {
  std::size_t at = 0;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size() == path.size() ? name.size() : name.size() + 1);
    if (name.empty() || name == ".") continue;
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(at++), std::string(name));
  }
}

}  // namespace

Result<Disk::Place> Disk::place_of(const std::string& path, AtEnd at_end) const {
  constexpr Inode kRoot = 1;
  std::vector<Inode> folders = {kRoot};  // from the root to where we are, for ".."
  std::deque<std::string> names;
  prepend_names(path, names);
  int symlinks = 0;
  while (!names.empty()) {
    const std::string name = std::move(names.front());
    names.pop_front();
    if (name == "..") {
      if (folders.size() > 1) folders.pop_back();
      continue;
    }
    Place place{.folder = folders.back(), .name = name};
    const Inode next = lookup(place);
    const bool symlink = next != 0 && node(next).type == sys::FileType::kSymlink;
    if (names.empty() && !(symlink && at_end == AtEnd::kFollow)) return place;
    if (next == 0) return no_such(path);
    if (symlink) {
      if (++symlinks > kSymlinksMax) return wrong_type(path, "Too many levels of symbolic links");
      const std::string_view target = as_text(node(next).content);
      if (target.starts_with('/')) folders = {kRoot};
      prepend_names(target, names);
    } else if (node(next).type == sys::FileType::kDirectory) {
      folders.push_back(next);
    } else {
      return no_such(path);
    }
  }
  return Place{.folder = folders.back(), .name = ""};
}

Disk::Inode Disk::lookup(const Place& place) const {
  if (place.name.empty()) return place.folder;
  const Names& names = node(place.folder).names;
  const auto found = names.find(place.name);
  return found == names.end() ? 0 : found->second;
}

Result<Disk::Inode> Disk::find(const std::string& path, AtEnd at_end) const {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path, at_end));
  const Inode inode = lookup(place);
  if (inode == 0) return no_such(path);
  return inode;
}

Result<Disk::Inode> Disk::find(const std::string& path) const {
  return find(path, AtEnd::kStay);
}

Disk::Inode Disk::make(const Place& place, sys::FileType type, WallTime now) {
  const Inode inode = next_inode_++;
  Node& made = nodes_[inode];
  made.type = type;
  switch (type) {
    case sys::FileType::kDirectory:
      made.attributes.mode = 0755;
      break;
    case sys::FileType::kSymlink:
      made.attributes.mode = 0777;
      break;
    default:
      made.attributes.mode = 0644;
  }
  touch_content(made, now);
  made.durable_attributes = made.attributes;
  change_names({.parts = {{.folder = place.folder, .name = place.name, .target = inode}}}, now);
  return inode;
}

Result<Disk::Inode> Disk::open(const std::string& path, sys::OpenMode mode, WallTime now) {
  using sys::OpenMode;
  const AtEnd at_end = mode == OpenMode::kCreateExclusive ? AtEnd::kStay : AtEnd::kFollow;
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path, at_end));
  const Inode inode = lookup(place);
  if (inode == 0) {
    if (mode == OpenMode::kRead || mode == OpenMode::kWrite) return no_such(path);
    return make(place, sys::FileType::kFile, now);
  }
  if (mode == OpenMode::kCreateExclusive) return exists(path);
  if (node(inode).type != sys::FileType::kFile) return wrong_type(path, "Is a directory");
  if (mode == OpenMode::kTruncate) OUTLAST_TRY(truncate(inode, 0, now));
  return inode;
}

Result<sys::FileInfo> Disk::stat(const std::string& path) const {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path));
  return info(inode);
}

Result<std::vector<sys::DirectoryEntry>> Disk::list(const std::string& path) const {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path, AtEnd::kFollow));
  if (node(inode).type != sys::FileType::kDirectory) return no_such(path);
  std::vector<sys::DirectoryEntry> entries;
  for (const auto& [name, target] : node(inode).names) {
    entries.push_back({.name = name, .type = node(target).type});
  }
  return entries;
}

Result<void> Disk::make_dir(const std::string& path, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path, AtEnd::kStay));
  if (lookup(place) != 0) return exists(path);
  make(place, sys::FileType::kDirectory, now);
  return {};
}

// The target is written with the inode: whoever finds the name after a crash finds it whole.
Result<void> Disk::make_symlink(const std::string& target, const std::string& path, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path, AtEnd::kStay));
  if (target.empty()) return no_such(target);
  if (lookup(place) != 0) return exists(path);
  Node& made = node(make(place, sys::FileType::kSymlink, now));
  const BytesView bytes = as_bytes(target);
  made.content = made.durable = Bytes(bytes.begin(), bytes.end());
  used_ += bytes.size();
  return {};
}

Result<std::string> Disk::read_symlink(const std::string& path) const {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path));
  if (node(inode).type != sys::FileType::kSymlink) return wrong_type(path, "Invalid argument");
  return std::string(as_text(node(inode).content));
}

Result<void> Disk::rename(const std::string& from, const std::string& to, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Place source, place_of(from, AtEnd::kStay));
  OUTLAST_TRY_ASSIGN(const Place target, place_of(to, AtEnd::kStay));
  const Inode moved = lookup(source);
  const Inode replaced = lookup(target);
  if (moved == 0) return no_such(from);
  if (moved == replaced) return {};
  if (to.starts_with(from + "/")) return wrong_type(to, "Invalid argument");
  if (replaced != 0) {
    const bool folder = node(moved).type == sys::FileType::kDirectory;
    if (folder != (node(replaced).type == sys::FileType::kDirectory)) {
      return folder ? no_such(to) : wrong_type(to, "Is a directory");
    }
    if (!node(replaced).names.empty()) return exists(to);
  }
  change_names({.parts = {{.folder = source.folder, .name = source.name, .target = 0},
                          {.folder = target.folder, .name = target.name, .target = moved}}},
               now);
  touch(node(moved), now);
  if (replaced != 0) release_if_nameless(replaced);
  return {};
}

Result<void> Disk::link(const std::string& from, const std::string& to, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(from));
  OUTLAST_TRY_ASSIGN(const Place place, place_of(to, AtEnd::kStay));
  if (node(inode).type == sys::FileType::kDirectory) return wrong_type(from, "Is a directory");
  if (lookup(place) != 0) return exists(to);
  change_names({.parts = {{.folder = place.folder, .name = place.name, .target = inode}}}, now);
  touch(node(inode), now);
  return {};
}

Result<void> Disk::remove_file(const std::string& path, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path, AtEnd::kStay));
  const Inode inode = lookup(place);
  if (inode == 0) return no_such(path);
  if (node(inode).type == sys::FileType::kDirectory) return wrong_type(path, "Is a directory");
  change_names({.parts = {{.folder = place.folder, .name = place.name, .target = 0}}}, now);
  touch(node(inode), now);
  release_if_nameless(inode);
  return {};
}

Result<void> Disk::remove_dir(const std::string& path, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Place place, place_of(path, AtEnd::kStay));
  const Inode inode = lookup(place);
  if (inode == 0 || node(inode).type != sys::FileType::kDirectory) return no_such(path);
  if (!node(inode).names.empty()) return exists(path);
  change_names({.parts = {{.folder = place.folder, .name = place.name, .target = 0}}}, now);
  return {};
}

Result<void> Disk::set_mode(const std::string& path, std::uint32_t mode, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path, AtEnd::kFollow));
  node(inode).attributes.mode = mode & 07777U;
  touch(node(inode), now);
  return {};
}

Result<void> Disk::set_modified(const std::string& path, WallTime when, WallTime now) {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path));
  set_modified(inode, when, now);
  return {};
}

Result<void> Disk::sync_dir(const std::string& path) {
  OUTLAST_TRY_ASSIGN(const Inode inode, find(path, AtEnd::kFollow));
  Node& folder = node(inode);
  if (folder.type != sys::FileType::kDirectory) return no_such(path);
  std::vector<bool> chosen;
  chosen.reserve(unsynced_names_.size());
  for (const NameChange& change : unsynced_names_) chosen.push_back(change.touches({inode}));
  commit_names(std::move(chosen));
  folder.durable_attributes = folder.attributes;
  return {};
}

bool Disk::NameChange::touches(const std::set<Inode>& folders) const {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Part& part) { return folders.contains(part.folder); });
}

void Disk::change_names(NameChange change, WallTime now) {
  for (const auto& [folder, name, target] : change.parts) {
    Names& names = node(folder).names;
    if (const auto old = names.find(name); old != names.end()) {
      --node(old->second).links;
      names.erase(old);
    }
    if (target != 0) {
      names.emplace(name, target);
      ++node(target).links;
    }
    touch_content(node(folder), now);
  }
  unsynced_names_.push_back(std::move(change));
}

void Disk::release_if_nameless(Inode inode) {
  if (node(inode).links != 0) return;
  node(inode).nameless = true;
  used_ -= node(inode).content.size();
}

void Disk::apply_durably(const NameChange& change) {
  for (const auto& [folder, name, target] : change.parts) {
    if (target == 0) {
      node(folder).durable_names.erase(name);
    } else {
      node(folder).durable_names[name] = target;
    }
  }
}

void Disk::commit_names(std::vector<bool> chosen) {
  std::set<Inode> folders;
  for (std::size_t i = unsynced_names_.size(); i-- > 0;) {
    chosen[i] = chosen[i] || unsynced_names_[i].touches(folders);
    if (!chosen[i]) continue;
    for (const auto& part : unsynced_names_[i].parts) folders.insert(part.folder);
  }
  std::vector<NameChange> rest;
  for (std::size_t i = 0; i < unsynced_names_.size(); ++i) {
    if (chosen[i]) {
      apply_durably(unsynced_names_[i]);
    } else {
      rest.push_back(std::move(unsynced_names_[i]));
    }
  }
  unsynced_names_ = std::move(rest);
}

}  // namespace outlast::sim
